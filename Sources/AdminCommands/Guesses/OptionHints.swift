import Administration
import ArgumentParser
import Bytes
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
