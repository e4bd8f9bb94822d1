#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Reads the next bytes into the start of `buffer`, and returns their number, which is 0 at the end.
///
/// - Parameters:
///   - waiting: Whether to wait for bytes if another process made the stream non-blocking; otherwise that
///     is an error.
///   - path: The path of the file, for errors.
func readSome(
  from descriptor: Int32, into buffer: inout [UInt8], waiting: Bool = false, path: String
) throws(FileError) -> Int {
  while true {
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      unsafe read(descriptor, bytes.baseAddress, bytes.count)
    }
    // A short read is no error: pipes and signals cause it, and the caller asks again.
    if count >= 0 { return count }
    if waiting, errno == EAGAIN {
      waitUntilReadable(descriptor)
    } else if errno != EINTR {
      throw .last(at: path)
    }
  }
}

/// Reads up to `count` bytes from `offset` into the start of `buffer`, and returns their number, which is 0
/// at the end.
///
/// - Parameter path: The path of the file, for errors.
func readSome(
  from descriptor: Int32, _ count: Int, at offset: Int64, into buffer: inout [UInt8], path: String
) throws(FileError) -> Int {
  while true {
    let read = unsafe buffer.withUnsafeMutableBytes { bytes in
      unsafe pread(descriptor, bytes.baseAddress, min(count, bytes.count), off_t(offset))
    }
    if read >= 0 { return read }
    guard errno == EINTR else { throw .last(at: path) }
  }
}

/// Waits until there is something to read, or the end of the stream.
func waitUntilReadable(_ descriptor: Int32) {
  var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  _ = unsafe poll(&request, 1, -1)
}

/// Writes all of `bytes`.
///
/// - Parameter path: The path of the file, for errors.
func writeAll(
  _ bytes: ArraySlice<UInt8>, to descriptor: Int32, path: String
) throws(FileError) {
  var rest = bytes
  while !rest.isEmpty {
    let count = unsafe rest.withUnsafeBytes { bytes in
      unsafe write(descriptor, bytes.baseAddress, bytes.count)
    }
    if count >= 0 {
      rest = rest.dropFirst(count)
    } else if errno == EAGAIN {
      // Another process made the stream non-blocking: wait for room instead of losing bytes.
      var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      _ = unsafe poll(&request, 1, -1)
    } else if errno != EINTR {
      throw .last(at: path)
    }
  }
}
