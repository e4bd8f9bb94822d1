@testable import AdminCommands
import ArgumentParser
import TestSupport
import Testing

/// The help of each command fits a terminal of 80 columns.
@Suite struct HelpWidthTests {
  /// The words of the command lines of all commands, with the empty one.
  private static let commands: [[String]] =
    [[]]
    + URLCacheAdmin.configuration.subcommands.flatMap { command in
      [[command._commandName]]
        + command.configuration.subcommands.map { [command._commandName, $0._commandName] }
    }

  @Test(arguments: ["-h", "--help"])
  func `no line is wider than 80 columns`(_ option: String) throws {
    #expect(Self.commands.count > 30)
    for words in Self.commands {
      let result = try GuessedCommandLine.run(words + [option])
      #expect(result.status == .done && result.output != "", "\(words)")
      for line in result.output.split(separator: "\n") where line.unicodeScalars.count > 80 {
        Issue.record("\(words) \(option): \(line)")
      }
    }
  }
}
