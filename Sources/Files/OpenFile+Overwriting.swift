import Bytes

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

extension OpenFile {
  /// The bytes that one call overwrites.
  private static let pieceLength = 1 << 20

  /// Opens a file for overwriting. A symbolic link is an error, and a pipe is not waited for.
  public init(overwriting path: String) throws(FileError) {
    let descriptor = unsafe open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw .last(at: path) }
    self.init(descriptor: descriptor, path: path)
  }

  /// Opens a file in a folder for overwriting; its name need not be UTF-8. A symbolic link is an error, and a pipe is
  /// not waited for.
  ///
  /// - Parameter name: The name of the file, which must not contain a slash.
  public init(overwriting name: [UInt8], in directory: borrowing Directory) throws(FileError) {
    let path = "\(directory.path)/\(String(decoding: name, as: UTF8.self))"
    let descriptor = unsafe openat(
      directory.descriptor, Directory.cString(name),
      O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw .last(at: path) }
    self.init(descriptor: descriptor, path: path)
  }

  /// Overwrites the first bytes of the file with zeros.
  ///
  /// - Parameter count: The most bytes to overwrite; the length of the file does not change.
  public borrowing func overwriteBeginning(_ count: Int64) throws(FileError) {
    try overwrite(0..<min(count, try status().size.bytes))
  }

  /// Overwrites the file with zeros, except for holes, which contain nothing. Its length does not change.
  public borrowing func overwrite() throws(FileError) {
    let size = try status().size.bytes
    // `SEEK_DATA` and `SEEK_HOLE`, which some C headers do not declare.
    #if canImport(Darwin)
      let (seekData, seekHole) = (4 as Int32, 3 as Int32)
    #else
      let (seekData, seekHole) = (3 as Int32, 4 as Int32)
    #endif
    var offset: Int64 = 0
    // A hostile sparse file would otherwise fill the disk with its zeros.
    while offset < size {
      var (start, end) = (offset, size)
      let data = lseek(descriptor, off_t(offset), seekData)
      if data >= 0 {
        start = Int64(data)
        end = Int64(lseek(descriptor, data, seekHole))
        // Some file systems answer in a way that makes no progress.
        if end <= start { end = size }
      } else if errno == ENXIO {
        // Only a hole is left.
        return
      }
      try overwrite(start..<end)
      offset = end
    }
  }

  private borrowing func overwrite(_ range: Range<Int64>) throws(FileError) {
    guard !range.isEmpty else { return }
    let zeros = [UInt8](repeating: 0, count: Int(min(Int64(Self.pieceLength), Int64(range.count))))
    var offset = range.lowerBound
    while offset < range.upperBound {
      let wanted = Int(min(Int64(zeros.count), range.upperBound - offset))
      let count = unsafe zeros.withUnsafeBytes { bytes in
        unsafe pwrite(descriptor, bytes.baseAddress, wanted, off_t(offset))
      }
      if count >= 0 {
        offset += Int64(count)
      } else if errno != EINTR {
        throw .last(at: path)
      }
    }
  }
}
