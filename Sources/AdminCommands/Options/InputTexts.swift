import Files

/// The contents of inputs that can only be read once: standard input, and shell pipes for `<(…)`.
///
/// A command may need the same list for each cache, attempt and round.
final class InputTexts {
  private var texts: [String: [UInt8]] = [:]
  private let read: (String, Int) throws -> [UInt8]

  /// - Parameter readInput: Reads standard input to its end, or until it exceeds a limit.
  convenience init(readInput: @escaping (Int) throws -> [UInt8]) {
    self.init { path, limit in
      path == "-" ? try readInput(limit) : try Self.read(path, upTo: limit)
    }
  }

  /// - Parameter read: Reads a file, or standard input for `-`, to its end, or until it exceeds a limit.
  init(read: @escaping (String, Int) throws -> [UInt8]) {
    self.read = read
  }

  /// Returns the contents of a file, which is only read once; more than `limit` bytes if it is longer.
  ///
  /// - Parameter path: The path of the file; `-` for standard input.
  func text(of path: String, upTo limit: Int) throws -> [UInt8] {
    // Reading standard input a second time would give nothing, and a list without URLs selects
    // nothing.
    if let text = texts[path] { return text }
    let text = try read(path, limit)
    texts[path] = text
    return text
  }

  private static func read(_ path: String, upTo limit: Int) throws(FileError) -> [UInt8] {
    let file = try OpenFile(readingInput: path)
    var (all, buffer): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 1 << 16))
    var count = try file.read(into: &buffer)
    // Read beyond the limit, so that the caller can reject a file that is too long.
    while count > 0, all.count <= limit {
      all += buffer[..<count]
      count = try file.read(into: &buffer)
    }
    return all
  }
}
