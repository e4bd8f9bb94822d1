import Administration
import Bytes
import Files
import Rendering

/// The words of a command line that could not be parsed: its cache, the values of its options, and lines with other words.
extension OptionHints {
  /// The cache of the command line, as a word of a shell; `CACHE` if none is known.
  var cacheWord: String {
    let options = words.prefix { $0 != "--" }
    if let option = options.firstIndex(where: { ["-c", "--cache"].contains($0) }),
      option + 1 < options.endIndex
    {
      return ShellText.word(ByteString(options[option + 1]))
    }
    let verbs = command.name.utf8.count { $0 == UInt8(ascii: " ") } + 1
    let operands = Array(words.dropFirst(verbs)).filter { $0.utf8.first != UInt8(ascii: "-") }
    // A file that is there is more likely the cache than the value of an option.
    if let path = operands.first(where: { !$0.isEmpty && (try? FileStatus.of($0)) != nil }) {
      return ShellText.word(ByteString(path))
    }
    // These commands take something else first.
    let others: Set = ["grep", "query", "import", "apply", "discover", "diff"]
    guard words.count > verbs, words[verbs].utf8.first != UInt8(ascii: "-"),
      !others.contains(command.name)
    else { return "CACHE" }
    return ShellText.word(ByteString(words[verbs]))
  }

  /// Returns the value of an option as it is written, as a word of a shell; `nil` if it has none.
  func value(of option: String) -> String? {
    for (index, word) in words.enumerated() {
      if word == option {
        guard index + 1 < words.count, words[index + 1].utf8.first != UInt8(ascii: "-") else {
          return nil
        }
        return ShellText.word(ByteString(words[index + 1]))
      }
      if word.utf8.starts(with: "\(option)=".utf8) {
        return ShellText.word(ByteString(Array(word.utf8.dropFirst(option.utf8.count + 1))))
      }
    }
    return nil
  }

  /// Returns a text with values in place of names in it.
  static func filled(_ text: String, _ values: [(name: String, value: String)]) -> String {
    values.reduce(text) { text, value in
      text.split(separator: value.name, omittingEmptySubsequences: false)
        .joined(separator: value.value)
    }
  }

  /// Returns the command line without an option.
  func line(leavingOut option: String, takesValue: Bool) -> String? {
    let index = words.firstIndex { word in
      word == option || word.utf8.starts(with: "\(option)=".utf8)
    }
    guard let index else { return nil }
    var line = words
    line.remove(at: index)
    if !takesValue, words[index].utf8.count > option.utf8.count {
      line.insert(
        String(decoding: Array(words[index].utf8.dropFirst(option.utf8.count + 1)), as: UTF8.self),
        at: index)
    }
    let hasValue =
      takesValue && words[index] == option && index < line.count
      && line[index].utf8.first != UInt8(ascii: "-")
      // The cache is no value.
      && (try? FileStatus.of(line[index])) == nil
    if hasValue { line.remove(at: index) }
    return suggested(line)
  }

  /// Returns the command line with an option for each letter of a cluster, such as `-lS`; `nil` if a letter is unknown.
  func line(replacingCluster cluster: String) -> String? {
    guard command.name == "list", let index = words.firstIndex(of: cluster) else { return nil }
    let known = command.options(includingHidden: true)
    // 'ls -a' and 'ls -h' ask for what this command does anyway.
    let ignored: Set = ["-a", "-h"]
    var new: [String] = []
    for letter in cluster.unicodeScalars.dropFirst().map({ "-\($0)" })
    where !ignored.contains(letter) {
      if known.contains(letter) {
        new.append(letter)
        continue
      }
      let guess = OptionGuess.all(named: letter).first { $0.command == command.name }
      guard case .words(let words, number: nil)? = guess?.suggestion else { return nil }
      new += words
    }
    return suggested(Array(words[..<index] + new + words[(index + 1)...]))
  }

  /// Returns the failure for an option without its value; `nil` for other messages of ArgumentParser.
  func failure(withoutValueIn message: String) -> CommandFailure? {
    let beginning = "Missing value for '"
    guard message.utf8.starts(with: beginning.utf8) else { return nil }
    let parts = message.utf8.dropFirst(beginning.utf8.count).prefix { $0 != UInt8(ascii: "'") }
      .split(separator: UInt8(ascii: " "), maxSplits: 1)
    guard let option = parts.first.flatMap({ String($0) }), !words.isEmpty else { return nil }
    let text = "'\(option)' needs a value"
    let isChanging = VerbSynonyms.changing.contains(command.name)
    switch option {
    case "-f" where isChanging && command.options().contains("--yes"):
      return .usage(
        "'-f' takes a format",
        hint: line(replacing: "-f", by: ["--yes"], nil).map { "did you mean: \($0)" })
    case "-f" where command.name == "list":
      return .usage(
        text,
        hint: "write '-f json', for example; follow a cache with: urlcache-admin watch \(cacheWord)"
      )
    case "--backup":
      return .usage(
        "'--backup' needs the name of the new archive",
        hint: line(replacing: option, by: ["--backup", "backup.tar.zst"], nil)
          .map { "did you mean: \($0)" })
    case "--body" where command.name == "grep":
      return .usage(
        text,
        hint: line(replacing: option, by: ["--in", "body"], nil).map { "did you mean: \($0)" })
    case "--body" where command.name == "diff":
      return .usage(
        text, hint: line(replacing: option, by: ["--bodies"], nil).map { "did you mean: \($0)" })
    default: return .usage(text, hint: help)
    }
  }

  /// Returns the failure for options that a command refused, and that have a clear meaning; `nil` for other messages.
  func failure(refusedIn message: String) -> CommandFailure? {
    let options = words.prefix { $0 != "--" }
    let text = message.utf8.prefix { $0 != UInt8(ascii: "\n") }
    if message.utf8.starts(with: "The name of a backup must end".utf8),
      let index = options.firstIndex(where: { $0.utf8.starts(with: "--backup".utf8) })
    {
      let place = words[index] == "--backup" ? index + 1 : index
      guard place < words.count else { return nil }
      var line = words
      line[place] += ".tar.zst"
      return .usage(
        String(decoding: Array(text), as: UTF8.self), hint: "did you mean: \(suggested(line))")
    }
    // As in 'fsck -y'. What a repair does is better seen first.
    let yes = options.firstIndex { ["-y", "--yes"].contains($0) }
    if command.name == "check", let yes, message.utf8.starts(with: "'--dry-run', '--yes'".utf8) {
      let line = words[..<yes] + words[(yes + 1)...] + ["--repair", "--dry-run"]
      return .usage(
        String(decoding: Array(text), as: UTF8.self),
        hint: "see what a repair would do with: \(suggested(Array(line)))")
    }
    return nil
  }

  /// Returns the failure for an operand that a command does not take; `nil` for other messages of ArgumentParser.
  func failure(unexpectedIn message: String) -> CommandFailure? {
    let beginning = "Unexpected argument '"
    guard message.utf8.starts(with: beginning.utf8) else { return nil }
    let quoted = message.utf8.dropFirst(beginning.utf8.count).prefix { $0 != UInt8(ascii: "'") }
    guard let operand = String(quoted), let index = words.lastIndex(of: operand) else { return nil }
    let singular = operand.utf8.last == UInt8(ascii: "s") ? String(operand.dropLast()) : operand
    let named = [operand, singular].first { UsageReport.Grouping(argument: $0) != nil }
    let key = command.name == "usage" ? named : nil
    return .usage(
      "'\(command.name)' does not take '\(printable(operand))'",
      hint: key.map { key in
        "did you mean: "
          + suggested(Array(words[..<index] + ["--by", key] + words[(index + 1)...]))
      } ?? help)
  }
}
