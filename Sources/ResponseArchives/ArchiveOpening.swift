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

  /// Finds out by its bytes which kind of archive is at the path, and opens it.
  ///
  /// - Throws: ``ResponseArchiveError``, `notAnArchive` if it is none of any kind; or ``FileError``.
  public func open() throws -> any ResponseArchive {
    let file = try ArchiveFile(path, temporaryFolder: temporaryFolder)
    for kind in Self.kinds where kind.isArchive(file) { return try kind.init(file, limits: limits) }
    let names = Self.kinds.map { $0.name }.joined(separator: " nor ")
    throw ResponseArchiveError(.notAnArchive, at: path, "it is neither \(names)")
  }
}
