import Bytes

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// An open file, which is closed when its owner is destroyed.
public struct OpenFile: ~Copyable, Sendable {
  let descriptor: Int32

  /// The path with which the file was opened.
  public let path: String

  /// Takes over a descriptor.
  init(descriptor: Int32, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  /// Opens a file for reading. A symbolic link is an error, and a pipe is not waited for.
  ///
  /// The corresponding C function is `open` with `O_NOFOLLOW` and `O_NONBLOCK`.
  public init(reading path: String) throws(FileError) {
    // O_NONBLOCK keeps the call from waiting for the other end of a pipe; for a regular file it has
    // no effect.
    let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw .last(at: path) }
    self.descriptor = descriptor
    self.path = path
  }

  /// Opens a file that the user chose for reading, even through symbolic links; a pipe is not waited for.
  ///
  /// The corresponding C function is `open` with `O_NONBLOCK`.
  public init(readingThroughLinks path: String) throws(FileError) {
    let descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw .last(at: path) }
    self.descriptor = descriptor
    self.path = path
  }

  /// Opens the input that the user named, to be read once from beginning to end. It may be a symbolic link,
  /// or a pipe, which is waited for.
  ///
  /// The corresponding C function is `open`.
  public init(readingInput path: String) throws(FileError) {
    // A user may pass `<(command)` of a shell, which is a pipe that has to be waited for.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .last(at: path) }
    self.descriptor = descriptor
    self.path = path
  }

  /// Opens a file in a folder for reading. A symbolic link is an error, and a pipe is not waited for.
  ///
  /// - Parameter name: The name of the file, which must not contain a slash.
  public init(reading name: String, in directory: borrowing Directory) throws(FileError) {
    let path = "\(directory.path)/\(name)"
    let descriptor = unsafe openat(
      directory.descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw .last(at: path) }
    self.descriptor = descriptor
    self.path = path
  }

  /// Opens a file in a folder for reading; its name need not be UTF-8. A symbolic link is an error, and a
  /// pipe is not waited for.
  ///
  /// - Parameter name: The name of the file, which must not contain a slash.
  public init(reading name: [UInt8], in directory: borrowing Directory) throws(FileError) {
    let path = "\(directory.path)/\(String(decoding: name, as: UTF8.self))"
    let descriptor = unsafe openat(
      directory.descriptor, Directory.cString(name),
      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw .last(at: path) }
    self.descriptor = descriptor
    self.path = path
  }

  /// Opens an unnamed file again, for reading; the file exists as long as one of the two is open.
  ///
  /// The corresponding C function is `fcntl` with `F_DUPFD_CLOEXEC`.
  ///
  /// - Parameter name: The name of the file in errors.
  public init(reading file: borrowing TemporaryFile, as name: String) throws(FileError) {
    // Both share one offset, which is harmless as a temporary file is read from given offsets only.
    let descriptor = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0)
    guard descriptor >= 0 else { throw .last(at: name) }
    self.descriptor = descriptor
    path = name
  }

  /// Creates a file for writing, which only its owner may read.
  ///
  /// - Parameter replacing: Whether to truncate an existing file; otherwise it is an error.
  public init(creating path: String, replacing: Bool = false) throws(FileError) {
    let flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | (replacing ? O_TRUNC : O_EXCL)
    // The mode is narrow from the beginning. A file that is made private afterwards can be opened
    // by others in between, and a descriptor keeps its rights.
    let descriptor = unsafe open(path, flags, 0o600)
    guard descriptor >= 0 else { throw .last(at: path) }
    self.descriptor = descriptor
    self.path = path
  }

  /// Creates a file in a folder for writing, which only its owner may read. Its name need not be UTF-8.
  ///
  /// - Parameter name: The name of the file, which must not contain a slash or exist already.
  public init(creating name: [UInt8], in directory: borrowing Directory) throws(FileError) {
    let path = "\(directory.path)/\(String(decoding: name, as: UTF8.self))"
    let descriptor = unsafe openat(
      directory.descriptor, Directory.cString(name),
      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .last(at: path) }
    self.descriptor = descriptor
    self.path = path
  }

  /// Opens a file for appending, and creates it, for its owner only, if it does not exist.
  ///
  /// A link is followed only if it and the file belong to this user, and root writes only to files of root. The corresponding
  /// C function is `open` with `O_APPEND`.
  public init(appendingTo path: String) throws(FileError) {
    // O_NONBLOCK makes a pipe without a reader an error instead of an endless wait.
    let flags = O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC
    var descriptor = unsafe open(path, flags | O_CREAT | O_NOFOLLOW, 0o600)
    var isLink = false
    if descriptor < 0, errno == ELOOP || errno == EMLINK {
      guard try FileStatus.of(path).owner == geteuid() else { throw FileError(EPERM, at: path) }
      isLink = true
      descriptor = unsafe open(path, flags)
      // Only of this user's own link.
      if descriptor < 0, errno == ENOENT {
        descriptor = unsafe open(path, flags | O_CREAT | O_EXCL, 0o600)
      }
    }
    guard descriptor >= 0 else { throw .last(at: path) }
    var status = stat()
    let isKnown = unsafe fstat(descriptor, &status) == 0
    guard isKnown, status.st_uid == geteuid() || !isLink && geteuid() != 0 else {
      close(descriptor)
      throw FileError(EPERM, at: path)
    }
    self.descriptor = descriptor
    self.path = path
  }

  deinit {
    close(descriptor)
  }

  /// Returns the status of the file.
  public borrowing func status() throws(FileError) -> FileStatus {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw .last(at: path) }
    return FileStatus(status)
  }

  /// Whether a long file is almost empty: its length is more than a thousand times its data on disk.
  ///
  /// A hostile sparse file costs a few bytes, but reading it returns zeros for as long as its author likes. A file of
  /// up to 1 MiB never counts, however small a file system stores it. Compressing file systems use at least a byte for
  /// 256 (ZFS with records of 1 MiB; Btrfs one for 32), and do not report compressed data as a hole, so both the
  /// allocated size and the data outside holes must be small. Without support for holes, no file is sparse.
  public borrowing func isSparse() throws(FileError) -> Bool {
    let status = try status()
    let size = status.size.bytes
    let most = size / 1_024
    guard size > 1 << 20, status.allocatedSize.bytes < most else { return false }
    var (data, offset) = (0 as Int64, 0 as Int64)
    while data < most, let part = nextData(from: offset, size: size) {
      data += part.upperBound - part.lowerBound
      offset = part.upperBound
    }
    // Restore the offset, so that the first sequential read begins at the start.
    guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw .last(at: path) }
    return data < most
  }

  /// Reads the next bytes into the start of `buffer`.
  ///
  /// - Returns: The number of bytes read; 0 at the end of the file.
  public borrowing func read(into buffer: inout [UInt8]) throws(FileError) -> Int {
    try readSome(from: descriptor, into: &buffer, path: path)
  }

  /// Reads from `offset` into the start of `buffer`.
  ///
  /// - Returns: The number of bytes read; 0 at the end of the file.
  public borrowing func read(into buffer: inout [UInt8], at offset: Int64) throws(FileError) -> Int
  {
    try readSome(from: descriptor, buffer.count, at: offset, into: &buffer, path: path)
  }

  /// Reads up to `count` bytes from `offset`; fewer at the end of the file.
  public borrowing func read(_ count: Int, at offset: Int64) throws(FileError) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: count)
    let read = try readSome(from: descriptor, count, at: offset, into: &buffer, path: path)
    buffer.removeLast(count - read)
    return buffer
  }

  /// Reads from `offset` into the start of `buffer`.
  ///
  /// - Parameter count: The most bytes to read, at most the length of `buffer`.
  /// - Returns: The number of bytes read; 0 at the end of the file.
  public borrowing func read(
    _ count: Int, at offset: Int64, into buffer: inout [UInt8]
  ) throws(FileError) -> Int {
    try readSome(from: descriptor, count, at: offset, into: &buffer, path: path)
  }

  /// Writes all of `bytes` after the last write.
  public borrowing func write(_ bytes: [UInt8]) throws(FileError) {
    try write(bytes[...])
  }

  /// Writes all of `bytes`, a slice, after the last write.
  public borrowing func write(_ bytes: ArraySlice<UInt8>) throws(FileError) {
    try writeAll(bytes, to: descriptor, path: path)
  }

  /// Sets the length of the file; added bytes are zero and need no space on disk. The corresponding C
  /// function is `ftruncate`.
  public borrowing func setLength(_ bytes: Int64) throws(FileError) {
    guard ftruncate(descriptor, off_t(bytes)) == 0 else { throw .last(at: path) }
  }

  /// Sets the modification time, in nanoseconds since 1970. The corresponding C function is
  /// `futimens`.
  public borrowing func setModified(_ nanoseconds: Int64) throws(FileError) {
    let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    // `tv_nsec` must not be negative, even before 1970.
    let time = timespec(
      tv_sec: time_t(rest < 0 ? seconds - 1 : seconds),
      tv_nsec: Int(rest < 0 ? rest + 1_000_000_000 : rest))
    let times = [time, time]
    guard unsafe futimens(descriptor, times) == 0 else { throw .last(at: path) }
  }

  /// Waits until the file is on disk. The corresponding C function is `fsync`.
  public borrowing func synchronize() throws(FileError) {
    guard Files.synchronize(descriptor, .stored) else { throw .last(at: path) }
  }

  /// Waits until the drive has the file. It is on disk once another file or folder of the drive is synchronized after it,
  /// so that of many files only the last one waits for the medium.
  public borrowing func sendToDrive() throws(FileError) {
    guard Files.synchronize(descriptor, .sent) else { throw .last(at: path) }
  }
}

// The parts of sparse files that have data.
extension OpenFile {
  /// Returns the next part of the file that is not a hole.
  ///
  /// The file system decides what a hole is; without support for holes, the whole file is one part. The corresponding C
  /// function is `lseek`, so this changes where reading without an offset goes on.
  ///
  /// - Parameters:
  ///   - offset: Where the search begins.
  ///   - size: The length of the file.
  /// - Returns: The part from `offset` on, or the next one; `nil` if only a hole is left.
  public borrowing func nextData(from offset: Int64, size: Int64) -> Range<Int64>? {
    guard offset >= 0, offset < size else { return nil }
    // `SEEK_DATA` and `SEEK_HOLE`, which some C headers do not declare.
    #if canImport(Darwin)
      let (seekData, seekHole) = (4 as Int32, 3 as Int32)
    #else
      let (seekData, seekHole) = (3 as Int32, 4 as Int32)
    #endif
    let start = Int64(lseek(descriptor, off_t(offset), seekData))
    if start < 0 {
      // Only a hole is left; any other error says that holes are not known.
      return errno == ENXIO ? nil : offset..<size
    }
    let end = Int64(lseek(descriptor, off_t(start), seekHole))
    // Some file systems answer in a way that makes no progress.
    guard start >= offset, start < size, end > start else { return offset..<size }
    return start..<min(end, size)
  }

  /// Leaves a hole up to `offset`: the next write without an offset begins there.
  borrowing func skip(to offset: Int64) throws(FileError) {
    guard lseek(descriptor, off_t(offset), SEEK_SET) >= 0 else { throw .last(at: path) }
  }
}

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
