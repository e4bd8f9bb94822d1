#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// An unnamed file, which disappears with its owner, however the process ends.
public struct TemporaryFile: ~Copyable, Sendable {
  let descriptor: Int32
  let folder: String

  /// The number of bytes written.
  public private(set) var size: Int64 = 0

  /// Creates an empty file on the file system of `folder`.
  public init(in folder: String) throws(FileError) {
    // The system replaces the six letters at the end.
    var template = Array("\(folder)/urlcache-admin.XXXXXX".utf8CString)
    let descriptor = unsafe template.withUnsafeMutableBufferPointer { template -> Int32 in
      guard let start = template.baseAddress else { return -1 }
      // `mkstemp` creates the file with O_EXCL and mode 0600, so no other user of `/tmp` can
      // prepare a link under the name or read what is written. O_TMPFILE would need no name at all,
      // but not every file system has it, and macOS does not.
      let descriptor = unsafe mkstemp(start)
      // Without a name, the system frees the file however the process ends.
      if descriptor >= 0 { unsafe unlink(start) }
      return descriptor
    }
    guard descriptor >= 0 else { throw FileError.last(at: folder).ofTemporaryFile }
    self.descriptor = descriptor
    self.folder = folder
  }

  deinit {
    close(descriptor)
  }

  /// Appends bytes.
  public mutating func append(_ bytes: [UInt8]) throws(FileError) {
    try write(bytes[...])
    size += Int64(bytes.count)
  }

  /// Writes bytes after the last write, without counting them in ``size``. Other threads may read meanwhile.
  public borrowing func write(_ bytes: ArraySlice<UInt8>) throws(FileError) {
    do throws(FileError) { try writeAll(bytes, to: descriptor, path: folder) } catch {
      throw error.ofTemporaryFile
    }
  }

  /// Reads from `offset` into the start of `buffer`.
  ///
  /// - Returns: The number of bytes read; 0 at the end.
  public borrowing func read(into buffer: inout [UInt8], at offset: Int64) throws(FileError) -> Int
  {
    do throws(FileError) {
      return try readSome(from: descriptor, buffer.count, at: offset, into: &buffer, path: folder)
    } catch {
      throw error.ofTemporaryFile
    }
  }
}
