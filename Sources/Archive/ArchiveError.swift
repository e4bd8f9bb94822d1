internal import CArchive

/// An archive that cannot be written or read.
public struct ArchiveError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What happened: a clause. It holds no bytes of the archive.
  public let description: String

  /// libarchive got no memory for a handle.
  static let outOfMemory = Self("there is no memory for it")

  init(_ description: String) {
    self.description = description
  }

  /// The last failure of a handle, in libarchive's words.
  init(of archive: OpaquePointer) {
    let message = unsafe archive_error_string(archive)
    unsafe description = message.map { unsafe String(cString: $0) } ?? "libarchive does not say why"
  }
}
