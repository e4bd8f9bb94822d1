public import ArgumentParser
import ResponseStorage

/// The root command.
public struct URLCacheAdmin: ParsableCommand {
  public static let configuration = CommandConfiguration(
    commandName: "urlcache-admin",
    abstract: "Administer the response cache that URLCache keeps on disk.",
    discussion: """
      What looks never changes a cache: nothing is written, moved or locked for
      writing, also beside a running app. What changes one works beside a running app
      too.

      'man urlcache-admin-VERB' has examples for each command.

      EXIT STATUS
        0 done · 1 the answer is "no" · 3 done in part · 64 usage · 65 not a cache,
        or damaged · 66 no such file · 69 a program is not there · 70 internal · 73
        cannot create output · 74 I/O · 75 in use, try again · 77 no permission · 78
        configuration
      """,
    // With the version of SQLite, which is that of the system and may explain what this program
    // does.
    version: "urlcache-admin \(versionNumber) (SQLite \(AppleStore.libraryVersion))",
    // Each command sets its name, because deriving it from the type would take a quarter of the run time of a short
    // command.
    subcommands: [
      List.self, Show.self, Body.self, Usage.self, Discover.self, Purge.self, Enforce.self,
      Compact.self, Apply.self, Check.self, Export.self, Import.self, Diff.self, Explain.self,
      Revalidate.self, Expire.self, Report.self, Pin.self, Unpin.self, Config.self, Policy.self,
      Metrics.self,
    ])

  /// The version of the program.
  static let versionNumber = "0.1.0"

  /// Creates the command.
  public init() {}
}
