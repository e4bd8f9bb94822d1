import Files
import ResponseStorage

/// A kind of archive: how to recognise it by its first bytes, and how to open it.
protocol ArchiveKind: ResponseArchive, SendableMetatype {
  /// The name of the kind, for people: `a HAR`.
  static var name: String { get }

  /// Whether a file begins like an archive of this kind.
  ///
  /// The file name does not matter. A file that begins like an archive but is broken counts as a damaged archive.
  static func isArchive(_ file: ArchiveFile) -> Bool

  /// Opens an archive.
  ///
  /// - Throws: ``ResponseArchiveError``, or ``FileError``.
  init(_ file: ArchiveFile, limits: ArchiveLimits) throws

  /// The file.
  var file: ArchiveFile { get }
}

extension ArchiveKind {
  func footprint() -> Footprint {
    var footprint = Footprint()
    footprint.databaseBytes = file.status.size
    footprint.allocatedBytes = file.status.allocatedSize
    return footprint
  }

  func finish() throws {
    try file.verifyUnchanged()
  }
}
