import AdminCommands
@testable import ArgumentParser
import Testing

/// Runs the checks that ArgumentParser has for declarations of options.
///
/// It runs them itself at each start of a program, but only in a build with `DEBUG`, and `Tests/run.sh` builds without.
@Suite struct DeclarationTests {
  @Test func `all options are declared as ArgumentParser demands`() throws {
    #expect(try checked(URLCacheAdmin.self) > 100)
  }

  // With `DEBUG`, ArgumentParser ends the process at such a declaration.
  #if !DEBUG
    @Test func `a name that two options have is found, also in a group of a subcommand`() throws {
      let error = #expect(throws: (any Error).self) { try checked(Twice.self) }
      // The description is wrapped.
      #expect("\(try #require(error))".contains("\"--same\""))
      #expect(throws: (any Error).self) { try checked(Root.self) }
    }
  #endif

  /// Checks the arguments of a command, of its option groups and of its subcommands, and returns how many of these there are.
  private func checked(_ type: any ParsableArguments.Type, parent: InputKey? = nil) throws -> Int {
    try type._validate(parent: parent)
    var count = 1
    for child in Mirror(reflecting: type.init()).children {
      guard let group = child.value as? any Group, let name = child.label else { continue }
      count += try checked(group.content, parent: InputKey(name: name, parent: parent))
    }
    if let command = type as? any ParsableCommand.Type {
      for subcommand in command.configuration.subcommands { count += try checked(subcommand) }
    }
    return count
  }
}

/// A property that holds the options of a group.
private protocol Group {
  var content: any ParsableArguments.Type { get }
}

extension OptionGroup: Group {
  fileprivate var content: any ParsableArguments.Type { Value.self }
}

private struct Twice: ParsableArguments {
  @Option(name: .customLong("same")) var first: Int?
  @Flag(name: .customLong("same")) var second = false
}

private struct Root: ParsableCommand {
  static let configuration = CommandConfiguration(subcommands: [Subcommand.self])
}

private struct Subcommand: ParsableCommand {
  @OptionGroup var group: Twice
}
