import Bytes
import Rendering

extension CommandEnvironment {
  /// Suggests the next command after a receipt, to people: a log needs no suggestions.
  ///
  /// - Parameter command: The words after `urlcache-admin`.
  func suggest(_ purpose: String, _ command: [String]) {
    guard isMessageTerminal else { return }
    let words = ["urlcache-admin"] + command.map { ShellText.word(ByteString($0)) }
    hint("\(purpose): \(words.joined(separator: " "))")
  }

  /// Suggests the command that does what a dry run has shown.
  func suggestRunning() {
    guard let words = Self.wordsWithoutDryRun(words), !words.contains("-") else { return }
    suggest("apply these changes with", words)
  }

  /// Returns the words of a command line without `--dry-run`, and with `--yes`; `nil` if that is not possible.
  static func wordsWithoutDryRun(_ words: [String]) -> [String]? {
    let options = words.prefix { $0 != "--" }
    let rest = options.filter { !["-n", "--dry-run"].contains($0) }
    // The option may be written in another way, as '-yn'.
    guard rest.count < options.count else { return nil }
    return wordsWithYes(rest + words.dropFirst(options.count))
  }

  /// Returns the words of a command line with `--yes`.
  static func wordsWithYes(_ words: [String]) -> [String] {
    let options = words.prefix { $0 != "--" }
    let yes = options.contains("-y") || options.contains("--yes") ? [] : ["--yes"]
    return options + yes + words.dropFirst(options.count)
  }
}
