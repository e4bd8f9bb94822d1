import Administration
import ArgumentParser
import Bytes
import Files
import Rendering

/// Hints for options that a command does not have.
struct OptionHints {
  let command: NamedCommand
  let words: [String]
  /// How many mistakes were corrected before.
  private let depth: Int

  /// Creates hints for a command line; `nil` if it names no command.
  init?(for words: [String]) { self.init(for: words, depth: 0) }

  private init?(for words: [String], depth: Int) {
    guard let command = NamedCommand(in: words) else { return nil }
    (self.command, self.words, self.depth) = (command, words, depth)
  }

  /// Returns a corrected command line that a user can type; other mistakes in it are corrected, too.
  func suggested(_ words: [String]) -> String {
    let line = Self.commandLine(words)
    guard depth < 4, words != self.words else { return line }
    do { _ = try URLCacheAdmin.parseAsRoot(words) } catch {
      guard URLCacheAdmin.exitCode(for: error) != .success,
        let hints = OptionHints(for: words, depth: depth + 1),
        let hint = hints.failure(for: URLCacheAdmin.message(of: error))?.hint
      else { return line }
      for beginning in ["did you mean: ", "write: "]
      where hint.utf8.starts(with: "\(beginning)urlcache-admin ".utf8) {
        let rest = String(hint.dropFirst(beginning.count))
        let end = rest.firstRange(of: Self.outputNote)?.lowerBound ?? rest.endIndex
        return String(rest[..<end])
      }
    }
    return line
  }

  /// What follows a command line with the name of a new file.
  static let outputNote = "; '-o -' is standard output"

  /// Returns a failure with a hint for a message of ArgumentParser about an unknown option; `nil` for other messages.
  func failure(for message: String) -> CommandFailure? {
    if message.utf8.starts(with: "Missing expected argument '--output".utf8) {
      if let failure = failureWithoutOutput() { return failure }
    }
    if let failure = failure(missingIn: message) ?? failure(invalidIn: message)
      ?? failure(withoutValueIn: message) ?? failure(unexpectedIn: message)
      ?? failure(refusedIn: message)
    {
      return failure
    }
    let beginning = "Unknown option '"
    guard message.utf8.starts(with: beginning.utf8) else { return brief(message) }
    let quoted = message.utf8.dropFirst(beginning.utf8.count)
      .prefix { $0 != UInt8(ascii: "'") && $0 != UInt8(ascii: "=") }
    return String(quoted).map(failure(forOption:))
  }

  /// Returns a failure without the summary of the help that ArgumentParser adds to its messages.
  private func brief(_ message: String) -> CommandFailure {
    var lines: [String] = []
    for line in message.split(separator: "\n", omittingEmptySubsequences: false) {
      if ["Help:  ", "Usage: "].contains(where: { line.utf8.starts(with: $0.utf8) }) { break }
      lines.append(String(line))
    }
    if lines.count == 1, let end = lines[0].ranges(of: ". Use one of: ").last {
      return .usage(
        String(lines[0][..<end.lowerBound]),
        hint: Self.clause(String(lines[0][end.lowerBound...].dropFirst(2))))
    }
    return .usage(
      lines.joined(separator: "\n"), hint: lines.count == 1 ? help : nil)
  }

  /// The first option that the command does not have and that stands for something else; `nil` if there is none.
  func firstUnknownOption() -> String? {
    let known = command.options(includingHidden: true)
    return words.prefix { $0 != "--" }.map { word in
      String(decoding: Array(word.utf8.prefix { $0 != UInt8(ascii: "=") }), as: UTF8.self)
    }.first { $0.utf8.starts(with: "--".utf8) && !known.contains($0) }
  }

  /// Returns a failure for a new file that is written without '-o'; `nil` if there is none.
  private func failureWithoutOutput() -> CommandFailure? {
    // The parser misses '--output' before it meets an unknown option that stands for it.
    let known = command.options(includingHidden: true)
    let names = words.prefix { $0 != "--" }.map { word in
      String(decoding: Array(word.utf8.prefix { $0 != UInt8(ascii: "=") }), as: UTF8.self)
    }
    if let guess = names.first(where: { OptionGuess.isOutput($0) && !known.contains($0) }) {
      return failure(forOption: guess)
    }
    if command.name == "report", let option = firstUnknownOption() {
      return failure(forOption: option)
    }
    guard words.count > 2, let file = words.last, file.utf8.first != UInt8(ascii: "-"),
      file.utf8.contains(UInt8(ascii: "."))
    else { return nil }
    let line = words.dropLast() + ["-o", file]
    return .usage(
      "'\(command.name)' needs '-o' and the new file",
      hint: "did you mean: \(suggested(Array(line)))")
  }

  /// Returns a failure if a cluster such as `-lah`, or no subcommand, was taken as a request for help; `nil` if the help
  /// was requested.
  func failureInsteadOfHelp() -> CommandFailure? {
    let options = words.prefix { $0 != "--" }
    let requests: Set = ["-h", "-help", "--help", "--help-hidden", "help", "--version"]
    guard !options.contains(where: requests.contains) else { return nil }
    let cluster = options.first {
      Self.isCluster($0) && $0.utf8.contains(UInt8(ascii: "h"))
    }
    return cluster.map(failure(forOption:)) ?? SubcommandHints.missing(in: words)
  }

  /// Returns the failure for an option as it is written, such as `--largest` or `-lah`.
  private func failure(forOption name: String) -> CommandFailure {
    if let failure = failure(forNumber: name) ?? failure(forOutput: name)
      ?? failure(forInput: name)
    {
      return failure
    }
    if let hint = hint(for: name, as: name) { return unknown(name, hint) }
    guard Self.isCluster(name) else { return unknown(name, similar(to: name) ?? help) }
    if let line = line(replacingCluster: name) { return unknown(name, "did you mean: \(line)") }
    // One hyphen is easily lost: '-header'.
    if let long = command.options().first(where: { $0 == "-\(name)" }) {
      return unknown(name, "did you mean '\(long)'?")
    }
    let known = command.options(includingHidden: true)
    let letters = name.unicodeScalars.dropFirst().map { "-\($0)" }
    guard let letter = letters.first(where: { !known.contains($0) }) else {
      return .usage(
        "'\(printable(name))' contains '-h', which only shows help",
        hint: "for help write 'urlcache-admin \(command.name) -h'")
    }
    return unknown(letter, hint(for: letter, as: name) ?? help, in: name)
  }

  func unknown(
    _ name: String, _ hint: String, in cluster: String? = nil
  ) -> CommandFailure {
    let place = cluster.map { ", in '\(printable($0))'" } ?? ""
    return .usage("'\(command.name)' has no option '\(printable(name))'\(place)", hint: hint)
  }

  /// The hint for an option without a similar one.
  var help: String {
    "list its options with 'urlcache-admin \(command.name) --help'"
  }

  /// Returns the hint of the table for an option.
  ///
  /// - Parameter written: The word of the command line to replace.
  private func hint(for name: String, as written: String) -> String? {
    let options = command.options()
    let guess = OptionGuess.all(named: name).first { guess in
      guess.command.map { $0 == command.name } ?? true
        && guess.options.allSatisfy(options.contains)
    }
    switch guess?.suggestion {
    case .text(let text):
      return Self.filled(
        text, [("CACHE", cacheWord), ("VALUE", value(of: written) ?? "VALUE")])
    case .words(let replacement, let number):
      return line(replacing: written, by: replacement, number).map { "did you mean: \($0)" }
    case .nothing(let takesValue):
      return line(leavingOut: written, takesValue: takesValue).map { "did you mean: \($0)" }
    case nil: return nil
    }
  }

  /// Returns the command line with other words in place of an option.
  ///
  /// - Parameter number: The value of the last word if the command line has no number there; `nil` if the option keeps
  ///   its value.
  func line(
    replacing option: String, by replacement: [String], _ number: String?
  ) -> String? {
    let index = words.firstIndex { word in
      word == option || word.utf8.starts(with: "\(option)=".utf8)
    }
    guard let index else { return nil }
    var line = words
    var new = replacement
    if words[index].utf8.count > option.utf8.count {
      new[new.count - 1] += String(
        decoding: Array(words[index].utf8.dropFirst(option.utf8.count)), as: UTF8.self)
    } else if let number {
      let next = words[(index + 1)...].first ?? ""
      if next.isEmpty || !next.utf8.allSatisfy(\.isASCIIDigit) { new.append(number) }
    }
    line.replaceSubrange(index...index, with: new)
    return suggested(line)
  }

  /// Returns a command line that a user can type.
  static func commandLine(_ words: [String]) -> String {
    let shown = words.map { word in
      // Only the value of `--sort=-size` may need quotes.
      let name = word.utf8.prefix { $0 != UInt8(ascii: "=") }
      guard name.starts(with: "--".utf8), name.count < word.utf8.count else {
        return ShellText.word(ByteString(word))
      }
      let value = ByteString(Array(word.utf8.dropFirst(name.count + 1)))
      return ShellText.word(ByteString(Array(name))) + "=" + ShellText.word(value)
    }
    return (["urlcache-admin"] + shown).joined(separator: " ")
  }

  /// Returns a word as a user can type it.
  static func shellWord(_ word: String) -> String { ShellText.word(ByteString(word)) }

  /// Returns a hint with a similar option of the command.
  private func similar(to name: String) -> String? {
    let options = command.options().compactMap { Self.word(of: $0) }
    guard let word = Self.word(of: name) else { return nil }
    // People leave the second word of an option out, or add one.
    let related = options.filter { option in
      option.utf8.starts(with: "\(word)-".utf8) || word.utf8.starts(with: "\(option)-".utf8)
    }
    let nearest = related.count == 1 ? related[0] : Spelling.nearest(to: word, among: options)
    return nearest.map { "did you mean '--\($0)'?" }
  }

  /// Returns a long option without its hyphens.
  private static func word(of option: String) -> String? {
    option.utf8.starts(with: "--".utf8) ? String(option.dropFirst(2)) : nil
  }

  /// Whether a word is a hyphen with several letters.
  private static func isCluster(_ word: String) -> Bool {
    let bytes = word.utf8
    return bytes.count > 2 && bytes.first == UInt8(ascii: "-")
      && bytes.dropFirst().first != UInt8(ascii: "-")
  }
}

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
    case "--body" where command.name == "show":
      return .usage(
        text,
        hint: "write the body with: "
          + suggested(["body"] + words.dropFirst().filter { $0 != option }))
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
