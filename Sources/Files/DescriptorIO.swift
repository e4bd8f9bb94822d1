#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Reads on into the front of `buffer`, and returns the number of bytes, which is 0 at the end.
///
/// - Parameter path: What is read, for errors.
func readSome(
  from descriptor: Int32, into buffer: inout [UInt8], path: String
) throws(FileError) -> Int {
  while true {
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      unsafe read(descriptor, bytes.baseAddress, bytes.count)
    }
    if count >= 0 { return count }
    guard errno == EINTR else { throw .last(at: path) }
  }
}

/// Writes all of `bytes`.
///
/// - Parameter path: What is written to, for errors.
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
      // Somebody made the stream non-blocking: wait for room instead of losing bytes.
      var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      _ = unsafe poll(&request, 1, -1)
    } else if errno != EINTR {
      throw .last(at: path)
    }
  }
}
