public import ArgumentParser
import CVersion
import Files
import Matching
import ResponseArchives
import ResponseStorage

/// The root command.
public struct URLCacheAdmin: ParsableCommand {
  public static let configuration = CommandConfiguration(
    commandName: "urlcache-admin",
    abstract: "Inspect, clean up and repair the on-disk caches of URLCache and WebKit.",
    discussion: """
      The cache is the first operand, or follows '-c': a Cache.db or its folder, a
      Foundation or WebKit cache folder, an archive, a name from the configuration,
      or the APP that 'discover' shows. A command that changes a cache takes an APP
      only after '-c', and not with '--yes'.

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
      CommandGroup(name: "Move", subcommands: [Export.self, Import.self, Sample.self]),
      CommandGroup(name: "Automate", subcommands: [Metrics.self, Rules.self, Config.self]),
    ])

  /// The version of the program.
  static let versionNumber = "0.1.0"

  /// The answer to `--version`, with the version of SQLite, which is that of the system and may explain what this program
  /// does.
  static var versionText: String {
    "urlcache-admin \(versionNumber) (SQLite \(AppleStore.libraryVersion))"
  }

  /// The answer to `--version --verbose`, for a bug report.
  static var verboseVersionText: String {
    let archive = ArchiveExport.libraryVersion ?? "cannot be loaded"
    let archiveVersion =
      archive.utf8.starts(with: "libarchive ".utf8) ? String(archive.dropFirst(11)) : archive
    // A dollar sign is left of what only 'git archive' fills in.
    let (commit, date) =
      SOURCE_COMMIT.utf8.first == UInt8(ascii: "$")
      ? ("unknown: not built by 'build-binaries.sh' or from an archive", "unknown")
      : (SOURCE_COMMIT, SOURCE_DATE)
    let facts: [(String, String?)] = [
      ("urlcache-admin", versionNumber), ("commit", commit), ("source of", date),
      ("Swift", compiler), ("SQLite", AppleStore.libraryVersion),
      ("libarchive", archiveVersion), ("libdeflate", ArchiveExport.deflateVersion),
      ("PCRE2", RegularExpression.libraryVersion), ("Nettle", Digest.libraryVersion),
      ("platform", platform),
    ]
    return facts.compactMap { name, value in
      guard let value else { return nil }
      return name + String(repeating: " ", count: 16 - name.utf8.count) + value + "\n"
    }.joined()
  }

  /// The version of the compiler, as far as it is known to it.
  private static var compiler: String {
    #if compiler(>=6.5)
      "6.5 or later"
    #elseif compiler(>=6.4)
      "6.4"
    #elseif compiler(>=6.3)
      "6.3"
    #else
      "6.2"
    #endif
  }

  private static var platform: String {
    #if os(macOS)
      let system = "macOS"
    #elseif os(Linux)
      let system = "Linux"
    #else
      let system = "another system"
    #endif
    #if arch(x86_64)
      return "\(system), x86_64"
    #elseif arch(arm64)
      return "\(system), arm64"
    #else
      return "\(system), another processor"
    #endif
  }

  /// Creates the command.
  public init() {}
}

extension URLCacheAdmin {
  /// Runs the command line of this process, and ends it.
  public static func runProcess(_ arguments: [String]) -> Never {
    if arguments.count > 1, arguments[1] == Worker.argument {
      Worker.run(Array(arguments.dropFirst()))
    }
    // A closed pipe is then an error of the write, which ends the command in good order.
    CurrentProcess.ignoreSignalsOfWriting()
    guard let environment = CommandEnvironment.live() else {
      try? StandardStream.error.write(Array("error: cannot read the system clock\n".utf8))
      // Ages and lifetimes of all entries would be wrong, and with them what a purge removes.
      CurrentProcess.end(with: ExitStatus.software.rawValue)
    }
    CurrentProcess.end(with: run(arguments, in: environment).rawValue)
  }
}
