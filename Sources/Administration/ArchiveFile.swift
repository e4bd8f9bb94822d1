import Archive
import Files
import ResponseStorage

/// An archive on disk, of a format that is told by its first bytes.
final class ArchiveFile {
  let path: String
  let format: ArchiveFormat
  let status: FileStatus
  private let file: OpenFile

  /// Opens an archive.
  ///
  /// - Throws: ``FileError``, or ``NativeArchiveError`` if the file does not begin as an archive.
  init(_ path: String) throws {
    file = try OpenFile(reading: path)
    self.path = path
    status = try file.status()
    guard status.kind == .regular else {
      throw NativeArchiveError(.notAnArchive, at: path, "it is \(status.kind.rawValue)")
    }
    let start = try file.read(ArchiveFormat.longestMark, at: 0)
    guard let format = ArchiveFormat(ofFileBeginningWith: start) else {
      throw NativeArchiveError(.notAnArchive, at: path, "it is neither tar nor zip")
    }
    self.format = format
  }

  /// Whether a file begins as an archive; `false` for what is no file, or cannot be read.
  static func isArchive(_ path: String) -> Bool {
    guard let file = try? OpenFile(reading: path), (try? file.status())?.kind == .regular,
      let start = try? file.read(ArchiveFormat.longestMark, at: 0)
    else { return false }
    return ArchiveFormat(ofFileBeginningWith: start) != nil
  }

  /// What libarchive reads the file by.
  func makeInput() -> ArchiveInput {
    ArchiveInput(size: status.size) { [self] in try file.read(into: &$0, at: $1) }
  }

  /// Makes sure that nobody has changed the file since it was opened.
  func verifyUnchanged() throws {
    guard try file.status() == status else {
      throw StoreError(.changedWhileReading, at: path, because: "somebody wrote to it meanwhile")
    }
  }
}
