import Administration
import Bytes
import Files
import ResponseArchives

/// Failures for operands that name no entry, but that have a clear meaning: a host, a pattern, a new archive, or a second
/// cache.
struct OperandHints {
  private let words: [String]
  private let environment: CommandEnvironment

  init(in environment: CommandEnvironment) {
    words = environment.words
    self.environment = environment
  }

  /// Returns the failure for an operand that is neither a URL nor an id.
  func failure(for operand: String, _ error: WrittenValueError) -> CommandFailure {
    if environment.isKnownCache(operand) {
      return .usage(
        "'\(printable(operand))' is a second cache, but the command takes only one",
        hint: linesForEach(operand).map { "run the command once for each: \($0)" }
          ?? "run the command once for each")
    }
    return .usage(
      "'\(printable(operand))' \(error.reason)",
      hint: line(for: operand).map { "did you mean: \($0)" }
        ?? "for a part of a URL use '--glob' or '--prefix'; a cache is the first operand,"
        + " or follows '-c'")
  }

  /// Returns a hint for the first operand of a command line, if the cache is named otherwise; `nil` if it is not, or if
  /// the meaning of the operand is unknown.
  func hint(forFirst operand: String) -> String? {
    let hasDefault = environment.configuration.value(of: .cache, forCache: nil) != nil
    guard hasDefault || words.contains(where: { $0 != operand && environment.isKnownCache($0) })
    else { return nil }
    return line(for: operand).map { "did you mean: \($0)" }
  }

  /// Returns a command line for each of two caches, separated by a semicolon; `nil` if it is not clear where they are.
  private func linesForEach(_ second: String) -> String? {
    guard let index = words.lastIndex(of: second),
      let first = words[..<index].lastIndex(where: { $0 != second && environment.isKnownCache($0) })
        ?? words[..<index].lastIndex(of: second)
    else { return nil }
    return [index, first].map { place in
      var line = words
      line.remove(at: place)
      return OptionHints.commandLine(line)
    }.joined(separator: "; ")
  }

  /// Returns the command line with the option that an operand was meant for; `nil` if that is unknown.
  private func line(for operand: String) -> String? {
    if let line = line(joining: operand) { return line }
    guard let selector = selector(for: operand), options.contains(selector[0]) else { return nil }
    return line(with: selector, insteadOf: operand)
  }

  /// The options of the command.
  private var options: [String] { NamedCommand(in: words)?.options() ?? [] }

  /// Returns the command line for a number and its unit that were written as two words, as in `16 MB`.
  private func line(joining unit: String) -> String? {
    guard let index = words.lastIndex(of: unit), index > 0 else { return nil }
    let number = words[index - 1]
    guard !number.isEmpty, number.utf8.allSatisfy(\.isASCIIDigit),
      (try? WrittenValue.size(number + unit)) != nil
        || (try? WrittenValue.duration("\(number) \(unit)")) != nil
    else { return nil }
    return OptionHints.commandLine(words[..<(index - 1)] + [number + unit] + words[(index + 1)...])
  }

  /// Returns the option that an operand was meant for, and its value; `nil` if that is unknown.
  private func selector(for operand: String) -> [String]? {
    if ["desc", "descending"].contains(operand) { return ["--reverse"] }
    if options.contains("--rule"), (try? RuleSelector(parsing: operand)) != nil {
      return ["--rule", operand]
    }
    if options.contains("--columns"), (try? parseColumns(operand)) != nil {
      return ["--columns", operand]
    }
    if operand.utf8.first == UInt8(ascii: "/"), (try? FileStatus.of(operand)) == nil {
      return ["--glob", "*\(operand)*"]
    }
    if ExportFormat(ofFileNamed: operand) != nil { return ["--output", operand] }
    if operand.utf8.contains(where: { "*?[".utf8.contains($0) }) {
      // A pattern is compared with the whole URL, which begins with a scheme.
      let isWhole = operand.utf8.first == UInt8(ascii: "*") || operand.firstRange(of: "://") != nil
      return ["--glob", isWhole ? operand : "*\(operand)"]
    }
    let parts = operand.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 1)
    guard let first = parts.first.flatMap({ String($0) }), isHost(first) else { return nil }
    return parts.count == 1 ? ["--host", operand] : ["--prefix", "https://\(operand)"]
  }

  /// Whether a word is a host or several with commas between them, and no name of a file.
  private func isHost(_ word: String) -> Bool {
    let parts = word.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
    guard parts.count == 1 else {
      return parts.allSatisfy { isHost(String(decoding: Array($0), as: UTF8.self)) }
    }
    let labels = word.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard labels.count > 1, let last = labels.last, (try? WrittenValue.host(word)) != nil,
      (try? FileStatus.of(word)) == nil
    else { return false }
    let ending = String(last) ?? ""
    let ofFiles = [
      "db", "json", "ndjson", "jsonl", "csv", "tsv", "txt", "log", "html", "md", "toml",
      "png", "jpg", "jpeg", "gif", "webp", "svg", "js", "css",
    ]
    return !ending.isEmpty && !ofFiles.contains(ending)
  }

  /// Returns the command line with an option in place of an operand.
  private func line(with option: [String], insteadOf operand: String) -> String? {
    guard let index = words.lastIndex(of: operand) else { return nil }
    let before = words[..<index]
    // After `--`, an option would be an operand.
    let place = before.firstIndex(of: "--") ?? index
    let line = words[..<place] + option + words[place..<index] + words[(index + 1)...]
    return OptionHints.commandLine(line.last == "--" ? line.dropLast() : Array(line))
  }
}
