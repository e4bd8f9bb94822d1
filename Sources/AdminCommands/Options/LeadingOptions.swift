import ArgumentParser

/// The options that may precede the verb: `-c PATH list` means `list -c PATH`.
///
/// ArgumentParser only accepts options of a command after its name, so they are moved there. They are not interpreted
/// here.
enum LeadingOptions {
  private static let names = ["-c", "--cache", "--config", "--color", "--progress"]

  /// Returns the words of a command line with the verb first, and without synonyms of verbs.
  static func moved(behindTheVerbOf words: [String]) -> [String] {
    var leading: [String] = []
    var rest = words[...]
    while let word = rest.first {
      if names.contains(word) {
        leading += rest.prefix(2)
        rest = rest.dropFirst(2)
      } else if names.dropFirst().contains(where: { word.utf8.starts(with: "\($0)=".utf8) }) {
        leading.append(word)
        rest = rest.dropFirst()
      } else {
        break
      }
    }
    let replaced = VerbSynonyms.replaced(in: rest)
    // Left as it is, so that the parser reports the unknown option in its own words.
    guard let verb = replaced.first, verb.utf8.first != UInt8(ascii: "-") else {
      return leading.isEmpty ? replaced : words
    }
    let verbs = verbCount(of: replaced)
    return replaced.prefix(verbs) + leading + replaced.dropFirst(verbs)
  }

  /// Returns the number of words that name the command: two for `rules test`.
  private static func verbCount(of words: [String]) -> Int {
    var subcommands = URLCacheAdmin.configuration.subcommands
    for (index, word) in words.enumerated() {
      let command = subcommands.first { command in
        command._commandName == word || command.configuration.aliases.contains(word)
      }
      guard let command else { return max(index, 1) }
      subcommands = command.configuration.subcommands
    }
    return words.count
  }
}
