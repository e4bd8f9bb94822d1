import Files

/// What it takes to open an archive, of whatever kind it is.
public struct ArchiveOpening: Sendable {
  /// The kinds of archives, in the order in which they are looked for. A new kind is one more line here.
  static let kinds: [any ArchiveKind.Type] = [
    HARArchive.self,
    WARCSource.self,
    WACZSource.self,
    // Any zip, and anything that is compressed, may be a native archive, so it comes last.
    NativeArchiveSource.self,
  ]

  /// The path of an archive.
  public var path: String

  /// How much the archive may hold.
  public var limits: ArchiveLimits

  /// Where what cannot be read in its place is put: the WARC files of a WACZ.
  public var temporaryFolder: String

  /// Creates an opening.
  public init(path: String, limits: ArchiveLimits = ArchiveLimits(), temporaryFolder: String) {
    self.path = path
    self.limits = limits
    self.temporaryFolder = temporaryFolder
  }

  /// Whether there is a file that begins as an archive; `false` also for one that cannot be read.
  public var isArchive: Bool {
    guard let file = try? ArchiveFile(path, temporaryFolder: temporaryFolder) else { return false }
    return Self.kinds.contains { $0.isArchive(file) }
  }

  /// Copies what `read` gives to a private file, and opens that, as ``open()`` does.
  ///
  /// - Parameter read: Reads on, into the front of an array, and returns the number of bytes; 0 at the end.
  /// - Throws: ``ResponseArchiveError``, ``FileError``, or what `read` throws.
  public func openInput(reading read: (inout [UInt8]) throws -> Int) throws -> any ResponseArchive {
    var copy = try TemporaryFile(in: temporaryFolder)
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = try read(&buffer), count > 0 { try copy.append(Array(buffer[..<count])) }
    let file = try OpenFile(reading: copy, as: "standard input")
    return try open(ArchiveFile(file, temporaryFolder: temporaryFolder))
  }

  /// Finds out by its bytes which kind of archive is at the path, and opens it.
  ///
  /// - Throws: ``ResponseArchiveError``, `notAnArchive` if it is none of any kind; or ``FileError``.
  public func open() throws -> any ResponseArchive {
    try open(ArchiveFile(path, temporaryFolder: temporaryFolder))
  }

  private func open(_ file: ArchiveFile) throws -> any ResponseArchive {
    for kind in Self.kinds where kind.isArchive(file) { return try kind.init(file, limits: limits) }
    let names = Self.kinds.map { $0.name }.joined(separator: " nor ")
    throw ResponseArchiveError(.notAnArchive, at: file.path, "it is neither \(names)")
  }
}
