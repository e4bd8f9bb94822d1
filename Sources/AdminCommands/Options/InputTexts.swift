import Files

/// What a process reads as a whole from files that can be read only once: its standard input, and pipes that a
/// shell makes for `<(…)`.
///
/// A command may need a list once for each cache, attempt and round, and has to find the same each time.
final class InputTexts {
  private var texts: [String: [UInt8]] = [:]
  private let readInput: (Int) throws -> [UInt8]

  /// - Parameter readInput: Reads the standard input to its end, or until there are more bytes than a limit.
  init(readInput: @escaping (Int) throws -> [UInt8]) {
    self.readInput = readInput
  }

  /// All of a file, read the first time that it is asked for; more than `limit` bytes if it is longer.
  ///
  /// - Parameter path: The path of the file; `-` for the standard input.
  func text(of path: String, upTo limit: Int) throws -> [UInt8] {
    if let text = texts[path] { return text }
    let text = path == "-" ? try readInput(limit) : try Self.read(path, upTo: limit)
    texts[path] = text
    return text
  }

  private static func read(_ path: String, upTo limit: Int) throws(FileError) -> [UInt8] {
    let file = try OpenFile(readingInput: path)
    var (all, buffer): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 1 << 16))
    var count = try file.read(into: &buffer)
    while count > 0, all.count <= limit {
      all += buffer[..<count]
      count = try file.read(into: &buffer)
    }
    return all
  }
}
