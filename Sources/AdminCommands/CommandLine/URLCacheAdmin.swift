public import ArgumentParser
import ResponseStorage

/// The root command.
public struct URLCacheAdmin: ParsableCommand {
  public static let configuration = CommandConfiguration(
    commandName: "urlcache-admin",
    abstract: "Inspect, clean up and repair the on-disk caches of URLCache.",
    discussion: """
      The cache is the first operand, or follows '-c': a Cache.db, its folder, a
      Foundation cache folder, an archive, or a name from the configuration.

      Read-only commands never modify a cache. All commands work while the app is
      running.

      'man urlcache-admin-COMMAND' shows examples of each command.
      """,
    version: versionText,
    // Each command sets its name, because deriving it from the type would take a quarter of the run time of a short
    // command.
    subcommands: [Completion.self],
    groupedSubcommands: [
      CommandGroup(
        name: "Inspect",
        subcommands: [
          List.self, Show.self, Body.self, Usage.self, Explain.self, Discover.self, Diff.self,
          Report.self, Grep.self, Query.self, Watch.self,
        ]),
      CommandGroup(
        name: "Clean up",
        subcommands: [
          Purge.self, Enforce.self, Compact.self, Apply.self, Pin.self, Unpin.self,
        ]),
      CommandGroup(name: "Check", subcommands: [Check.self, Audit.self, Recover.self]),
      CommandGroup(name: "Refresh", subcommands: [Revalidate.self, Expire.self]),
      CommandGroup(name: "Move", subcommands: [Export.self, Import.self]),
      CommandGroup(name: "Automate", subcommands: [Metrics.self, Rules.self, Config.self]),
    ])

  /// The version of the program.
  static let versionNumber = "0.1.0"

  /// The answer to `--version`, with the version of SQLite, which is that of the system and may explain what this program
  /// does.
  static var versionText: String {
    "urlcache-admin \(versionNumber) (SQLite \(AppleStore.libraryVersion))"
  }

  /// Creates the command.
  public init() {}
}
