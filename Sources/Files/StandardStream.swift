import Synchronization

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

/// Whether a signal has removed the line for good.
private let isOver = Atomic(false)
/// Whether a thread is drawing the line.
private let isBeingDrawn = Atomic(false)

/// A line on the terminal of standard error that is only shown for a while.
public enum TransientLine {
  /// Draws the line, unless a signal has removed it for good. Only one thread may draw at a time.
  public static func draw(_ body: () -> Void) {
    // Otherwise a thread could draw between the removal of the line and the end of the process.
    isBeingDrawn.store(true, ordering: .sequentiallyConsistent)
    defer { isBeingDrawn.store(false, ordering: .sequentiallyConsistent) }
    if !isOver.load(ordering: .sequentiallyConsistent) { body() }
  }

  /// What removes the line: a carriage return, and the control sequence EL of ECMA-48.
  public static let removal: StaticString = "\r\u{1B}[K"

  /// Removes the line if a signal ends the process, until ``end()``.
  public static func begin() {
    for number in HeldSignals.numbers where !HeldSignals.isIgnored(number) {
      _ = signal(number) { number in
        // A handler may only call functions that are safe in signal handlers, and use atomics without locks.
        isOver.store(true, ordering: .sequentiallyConsistent)
        // Waits for a thread that is drawing. If it is this one, it will never end, so not for long.
        for _ in 0..<50 where isBeingDrawn.load(ordering: .sequentiallyConsistent) {
          _ = poll(nil, 0, 1)
        }
        let text = TransientLine.removal
        _ = unsafe write(STDERR_FILENO, text.utf8Start, text.utf8CodeUnitCount)
        _ = signal(number, SIG_DFL)
        raise(number)
      }
    }
  }

  /// Leaves it to signals to end the process at once.
  public static func end() {
    for number in HeldSignals.numbers where !HeldSignals.isIgnored(number) {
      _ = signal(number, SIG_DFL)
    }
  }
}
