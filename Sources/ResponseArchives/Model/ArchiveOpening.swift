import Files

/// Opens an archive of any kind.
public struct ArchiveOpening: Sendable {
  /// The kinds of archives, in the order in which they are tried.
  static let kinds: [any ArchiveKind.Type] = [
    HARArchive.self,
    WARCSource.self,
    WACZSource.self,
    NativeArchiveSource.self,
  ]

  /// The path of an archive.
  public var path: String

  /// The limits on the contents of the archive.
  public var limits: ArchiveLimits

  /// The folder for temporary files, such as the WARC files extracted from a WACZ file.
  public var temporaryFolder: String

  /// Creates an opening.
  public init(path: String, limits: ArchiveLimits = ArchiveLimits(), temporaryFolder: String) {
    self.path = path
    self.limits = limits
    self.temporaryFolder = temporaryFolder
  }

  /// Whether the file begins like an archive, even one that ``open()`` rejects; `false` if it cannot be read.
  public var isArchive: Bool {
    guard let file = try? ArchiveFile(path, temporaryFolder: temporaryFolder) else { return false }
    return Self.kinds.contains { $0.isArchive(file) } || ForeignArchive(file) != nil
  }

  /// Copies the input to an unlinked file, because archives are read more than once, and opens that like ``open()``.
  ///
  /// - Parameter read: Reads the next bytes into the front of an array, and returns their number; 0 at the end.
  /// - Throws: ``ResponseArchiveError``, ``FileError``, or any error that `read` throws.
  public func openInput(reading read: (inout [UInt8]) throws -> Int) throws -> any ResponseArchive {
    var copy = try TemporaryFile(in: temporaryFolder)
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = try read(&buffer), count > 0 { try copy.append(Array(buffer[..<count])) }
    let file = try OpenFile(reading: copy, as: "standard input")
    return try open(ArchiveFile(file, temporaryFolder: temporaryFolder))
  }

  /// Detects the kind of the archive by its first bytes, and opens it.
  ///
  /// - Throws: ``ResponseArchiveError``, `notAnArchive` if no kind matches; or ``FileError``.
  public func open() throws -> any ResponseArchive {
    try open(ArchiveFile(path, temporaryFolder: temporaryFolder))
  }

  private func open(_ file: ArchiveFile) throws -> any ResponseArchive {
    for kind in Self.kinds where kind.isArchive(file) { return try kind.init(file, limits: limits) }
    if let foreign = ForeignArchive(file) {
      throw ResponseArchiveError(.notAnArchive, at: file.path, foreign.fact, hint: foreign.hint)
    }
    let names = Self.kinds.map { $0.name }.joined(separator: " nor ")
    throw ResponseArchiveError(.notAnArchive, at: file.path, "it is neither \(names)")
  }
}
