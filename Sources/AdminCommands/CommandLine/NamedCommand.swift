import ArgumentParser

/// The command that a command line names.
struct NamedCommand {
  /// The command.
  let type: any ParsableCommand.Type

  /// The words that name it: `list`, or `rules test`.
  let name: String

  /// Finds the command; `nil` if the first word names none.
  init?(in words: [String]) {
    var commands: [any ParsableCommand.Type] = [URLCacheAdmin.self]
    for word in words {
      let command = commands[commands.count - 1].configuration.subcommands.first {
        $0._commandName == word || $0.configuration.aliases.contains(word)
      }
      guard let command else { break }
      commands.append(command)
    }
    guard let last = commands.dropFirst().last else { return nil }
    type = last
    name = commands.dropFirst().map { $0._commandName }.joined(separator: " ")
  }

  /// Returns the names of its options as they are written: `--limit` and `-n`.
  ///
  /// They are read from the help, which is slow, so this is only for messages about errors.
  ///
  /// - Parameter includingHidden: Whether to return options that the help does not show.
  func options(includingHidden: Bool = false) -> [String] {
    let help = URLCacheAdmin.helpMessage(
      for: type, includeHidden: includingHidden, columns: 80)
    var names: [String] = []
    for line in help.utf8.split(separator: UInt8(ascii: "\n"))
    where line.starts(with: "  -".utf8) {
      let words = line.split(separator: UInt8(ascii: " ")).prefix { $0.first == UInt8(ascii: "-") }
      for word in words {
        // An option and its opposite are written as `--low/--no-low`, several names with commas.
        for name in word.split(separator: UInt8(ascii: "/")) {
          names.append(
            String(decoding: Array(name.filter { $0 != UInt8(ascii: ",") }), as: UTF8.self))
        }
      }
    }
    return names
  }
}
