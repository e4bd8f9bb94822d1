import Administration
import ArgumentParser

/// Hints for the second word of commands such as `config`, and other names of these words.
enum SubcommandHints {
  /// The names of subcommands that users of other programs try first, by the command.
  private static let synonyms: [String: [String: String]] = [
    "config": [
      "show": "list", "ls": "list", "view": "list", "print": "list",
      "remove": "unset", "rm": "unset", "delete": "unset",
      "validate": "check", "verify": "check", "lint": "check",
    ]
  ]

  /// The hints for words that no subcommand has, but that have a clear meaning.
  private static let hints: [String: [String: String]] = [
    "config": [
      "get": "show all settings with 'urlcache-admin config list'",
      "path": "show the settings and their files with 'urlcache-admin config list'",
      "edit": "change a setting with 'urlcache-admin config set SETTING VALUE'",
      "add": "change a setting with 'urlcache-admin config set SETTING VALUE'",
      "init": "the first 'urlcache-admin config set SETTING VALUE' creates the file",
    ]
  ]

  /// Returns a command line with the name of a subcommand in place of a synonym.
  static func replaced(in words: [String]) -> [String] {
    guard words.count > 1, let name = synonyms[words[0]]?[words[1]] else { return words }
    return [words[0], name] + words.dropFirst(2)
  }

  /// Returns the failure for a word that is no subcommand; `nil` if there is no such word.
  static func unknown(in words: [String]) -> CommandFailure? {
    guard words.count > 1, let (verb, names) = group(words[0]) else { return nil }
    let word = words[1]
    guard word.utf8.first != UInt8(ascii: "-"), word != "help", !names.contains(word) else {
      return nil
    }
    let hint =
      adding(words) ?? hints[verb]?[word] ?? Spelling.nearest(to: word, among: names).map {
        "did you mean '\($0)'?"
      }
      ?? line(of: words, names, verb) ?? choice(of: names, verb)
    return .usage("'\(verb)' has no subcommand '\(printable(word))'", hint: hint)
  }

  /// Returns the hint for `config add NAME PATH`; `nil` for other words.
  private static func adding(_ words: [String]) -> String? {
    guard words.count == 4, words[0] == "config", words[1] == "add" else { return nil }
    let line = OptionHints.commandLine(["config", "set", "caches.\(words[2]).path", words[3]])
    return "did you mean: \(line)"
  }

  /// Returns the failure for a command line without a subcommand; `nil` if it needs none.
  static func missing(in words: [String]) -> CommandFailure? {
    guard let (verb, names) = words.first.flatMap(group) else { return nil }
    return .usage("'\(verb)' needs a subcommand", hint: choice(of: names, verb))
  }

  /// Returns the hint for an operand of the only subcommand, which was left out; `nil` for the name of another one.
  private static func line(of words: [String], _ names: [String], _ verb: String) -> String? {
    let isName =
      synonyms.values.contains { $0[words[1]] != nil || $0.values.contains(words[1]) }
      || hints.values.contains { $0[words[1]] != nil }
    guard names.count == 1, !isName else { return nil }
    return "did you mean: "
      + OptionHints.commandLine([verb, names[0]] + words.dropFirst())
  }

  private static func choice(of names: [String], _ verb: String) -> String {
    names.count == 1
      ? "did you mean 'urlcache-admin \(verb) \(names[0])'?"
      : "use one of: \(names.joined(separator: ", "))"
  }

  /// Returns a command that has subcommands, with their names; `nil` for another command.
  private static func group(_ verb: String) -> (verb: String, names: [String])? {
    let command = URLCacheAdmin.configuration.subcommands.first {
      $0._commandName == verb || $0.configuration.aliases.contains(verb)
    }
    guard let command, !command.configuration.subcommands.isEmpty else { return nil }
    return (command._commandName, command.configuration.subcommands.map { $0._commandName })
  }
}
