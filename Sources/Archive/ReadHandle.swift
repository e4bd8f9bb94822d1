internal import CArchive

/// A libarchive handle for reading, which is freed when its owner is destroyed.
@safe
struct ReadHandle: ~Copyable {
  let pointer: OpaquePointer

  init() throws(ArchiveError) {
    try LibArchive.load()
    guard let pointer = unsafe archive_read_new() else { throw .outOfMemory }
    unsafe self.pointer = pointer
  }

  deinit {
    _ = unsafe archive_read_free(pointer)
  }
}
