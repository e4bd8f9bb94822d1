#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A standard stream of the process.
public struct StandardStream: Sendable {
  private let descriptor: Int32
  private let name: String

  /// The standard input.
  public static let input = StandardStream(descriptor: STDIN_FILENO, name: "standard input")

  /// The standard output.
  public static let output = StandardStream(descriptor: STDOUT_FILENO, name: "standard output")

  /// The standard error.
  public static let error = StandardStream(descriptor: STDERR_FILENO, name: "standard error")

  /// Writes all of `bytes`. If no process reads them, it throws a ``FileError`` of the kind `brokenPipe`.
  public func write(_ bytes: [UInt8]) throws(FileError) {
    if HeldSignals.areHeld, !isFile {
      try writePatiently(bytes[...])
    } else {
      try writeAll(bytes[...], to: descriptor, path: name)
    }
  }

  /// Writes bytes to a possibly slow reader, and stops on a held signal: nothing else would end a process that
  /// waits for a reader.
  private func writePatiently(_ bytes: ArraySlice<UInt8>) throws(FileError) {
    var rest = bytes
    while !rest.isEmpty {
      var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      // A blocked signal does not end a `poll`, so it is looked for ten times a second.
      if unsafe poll(&request, 1, 100) == 0 {
        if HeldSignals.areWaiting { throw .interrupted(at: name) }
      } else {
        // A writable pipe accepts so many bytes without blocking: 4,096 on Linux, and 512 on macOS.
        let piece = rest.prefix(Int(PIPE_BUF))
        try writeAll(piece, to: descriptor, path: name)
        rest = rest.dropFirst(piece.count)
      }
    }
  }

  private var isFile: Bool {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 && FileStatus(status).kind == .regular
  }

  /// Whether the stream is a terminal.
  public var isTerminal: Bool { isatty(descriptor) == 1 }

  /// Whether this is a pipe or a connection that no process reads any more.
  public var hasNoReader: Bool {
    // macOS watches nothing if it is asked for nothing, and reports the end of a pipe as POLLHUP. So does Linux that of a
    // connection.
    var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return unsafe poll(&request, 1, 0) == 1 && request.revents & Int16(POLLERR | POLLHUP) != 0
  }

  /// The width of the terminal in columns, or `nil` if this is not a terminal or the width is unknown.
  public var terminalWidth: Int? {
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
      return nil
    }
    return Int(size.ws_col)
  }

  /// Reads the next bytes into the start of `buffer`, as soon as there are any, even if another process made
  /// the stream non-blocking.
  ///
  /// - Returns: The number of bytes, which is 0 at the end.
  public func read(into buffer: inout [UInt8]) throws(FileError) -> Int {
    try readSome(from: descriptor, into: &buffer, waiting: true, path: name)
  }

  /// Waits until there is something to read, or the end of the stream.
  public func waitForInput() { waitUntilReadable(descriptor) }

  /// Reads the standard input to its end, or until there are more than `limit` bytes.
  public static func readInput(upTo limit: Int) throws(FileError) -> [UInt8] {
    var result: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    // One byte more than the limit is enough for the caller to know that there are too many.
    while result.count <= limit {
      let count = try input.read(into: &buffer)
      if count == 0 { break }
      result += buffer[..<count]
    }
    return result
  }
}
