import Files
import ResponseStorage

/// A kind of archive: what tells one by its bytes, and how it is opened.
protocol ArchiveKind: ResponseArchive, SendableMetatype {
  /// What an archive of this kind is called, for people: `a HAR`.
  static var name: String { get }

  /// Whether a file begins as an archive of this kind.
  ///
  /// Its name does not matter. What begins so, and turns out to be broken, is a damaged archive.
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
