import ArgumentParser

/// What ArgumentParser makes of a command line.
enum ParsedCommand {
  case command(any AdminCommand)
  /// ArgumentParser's own command `help`, or a group such as `rules` without a subcommand.
  case other(any ParsableCommand)

  /// Parses a command line whose verb is known.
  ///
  /// The command parses it by itself, because the tree of all commands takes a seventh of a short run. What it does not
  /// take, such as `--help`, is parsed again by the root command, whose messages name the whole command.
  init(_ words: [String]) throws {
    if let verb = words.first, let command = URLCacheAdmin.command(named: verb),
      command.configuration.subcommands.isEmpty,
      let parsed = try? command.parseAsRoot(Array(words.dropFirst())),
      case .command(let command) = Self(parsed)
    {
      self = .command(command)
    } else {
      self = Self(try URLCacheAdmin.parseAsRoot(words))
    }
  }

  private init(_ parsed: any ParsableCommand) {
    // This is the only place with a dynamic cast.
    if let command = parsed as? any AdminCommand {
      self = .command(command)
    } else {
      self = .other(parsed)
    }
  }
}
