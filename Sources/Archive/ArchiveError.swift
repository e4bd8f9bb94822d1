internal import CArchive

/// An error of writing or reading an archive.
public struct ArchiveError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What happened: a clause. It contains no bytes of the archive.
  public let description: String

  /// libarchive could not allocate a handle.
  static let outOfMemory = Self("out of memory")

  init(_ description: String) {
    self.description = description
  }

  /// Creates an error with libarchive's message for the last failure of a handle.
  init(of archive: OpaquePointer) {
    let message = unsafe archive_error_string(archive)
    unsafe description = message.map { unsafe String(cString: $0) } ?? "libarchive gives no reason"
  }
}
