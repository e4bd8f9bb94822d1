#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// One of the streams that a process starts with.
public struct StandardStream: Sendable {
  private let descriptor: Int32
  private let name: String

  /// The standard input.
  public static let input = StandardStream(descriptor: STDIN_FILENO, name: "standard input")

  /// The standard output.
  public static let output = StandardStream(descriptor: STDOUT_FILENO, name: "standard output")

  /// The standard error.
  public static let error = StandardStream(descriptor: STDERR_FILENO, name: "standard error")

  /// Writes all of `bytes`. Nobody reading them is a ``FileError`` of the kind `brokenPipe`.
  public func write(_ bytes: [UInt8]) throws(FileError) {
    try writeAll(bytes[...], to: descriptor, path: name)
  }

  /// Whether the stream is a terminal.
  public var isTerminal: Bool { isatty(descriptor) == 1 }

  /// The width of the terminal in columns, or `nil` if it is none or does not say.
  public var terminalWidth: Int? {
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
      return nil
    }
    return Int(size.ws_col)
  }

  /// Reads on into the front of `buffer`, as soon as there is anything.
  ///
  /// - Returns: The number of bytes, which is 0 at the end.
  public func read(into buffer: inout [UInt8]) throws(FileError) -> Int {
    try readSome(from: descriptor, into: &buffer, path: name)
  }

  /// Reads the standard input to its end, or until there are more than `limit` bytes.
  public static func readInput(upTo limit: Int) throws(FileError) -> [UInt8] {
    var result: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while result.count <= limit {
      let count = try readSome(from: STDIN_FILENO, into: &buffer, path: "standard input")
      if count == 0 { break }
      result += buffer[..<count]
    }
    return result
  }
}
