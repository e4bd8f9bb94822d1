import Administration
import Bytes

/// A command about a cache, for which the configuration has a say.
///
/// The command line is parsed once. What it does not give is then taken, as typed values, from environment
/// variables, from the section of the cache, and from what the files set for all caches, in this order.
protocol ConfiguredCommand: AdminCommand {
  /// The cache that the command is about.
  var cache: CacheOptions { get set }

  /// The files that the command creates for its cache, and that must not exist yet.
  var newFiles: [NewFileOption] { get }

  /// Whether the command runs for each cache that has a name.
  var runsForAllCaches: Bool { get }

  /// What is written down of a run; `nil` if nothing ever is.
  var recorded: RecordedRun? { get }

  /// Takes what is set elsewhere where the command line does not give it.
  mutating func fill(from settings: CacheSettings)
}

extension ConfiguredCommand {
  var newFiles: [NewFileOption] { [] }

  var runsForAllCaches: Bool { false }

  var recorded: RecordedRun? { nil }

  mutating func fill(from settings: CacheSettings) {
    cache.fill(from: settings)
  }

  /// Runs the command for its cache, or for each, with what the configuration sets.
  func runCommandLine(in environment: CommandEnvironment) -> ExitStatus {
    var runs = CacheRuns(of: self, in: environment)
    return runs.run()
  }

  /// The command with what the configuration sets for its cache.
  ///
  /// - Parameter name: The cache to run it for, in the place of the one it names; `nil` to keep that.
  func configured(
    by configuration: Configuration, forCache name: String?
  ) -> any ConfiguredCommand {
    var command = self
    if let name { command.cache.cache = name }
    let cache = command.cache.cache ?? configuration.value(of: .cache, forCache: nil)?.text
    command.fill(from: configuration.settings(forCache: cache))
    return command
  }
}

/// A command that can run for each cache that has a name.
protocol AllCachesCommand: ConfiguredCommand {
  /// Which caches it runs for.
  var scope: ScopeOptions { get }
}

extension AllCachesCommand {
  var runsForAllCaches: Bool { scope.allCaches }
}

/// An option that names a file which the command creates.
struct NewFileOption {
  /// The option: `--plan`.
  let option: String
  /// The path of the file.
  let path: String
}

/// A command of which a log and metrics can be written.
protocol RecordedCommand: ConfiguredCommand {
  /// Where they are written.
  var recording: RecordOptions { get }

  /// Whether it changes nothing, of which nothing is written down.
  var isDryRun: Bool { get }

  /// How large the cache may be on disk, in bytes, if the command knows.
  var capacityBytes: ByteCount? { get }

  /// The expiries of an application's own, which count for whether entries are fresh.
  var expiryRules: [UserInfoExpiry.Rule] { get }
}

/// How a run is written down.
struct RecordedRun {
  /// Where.
  let recording: RecordOptions
  /// Whether the run changes nothing, of which nothing is written down.
  let isDryRun: Bool
  /// How large the cache may be on disk, in bytes, if the command knows.
  let capacityBytes: ByteCount?
  /// The expiries of an application's own, which count for whether entries are fresh.
  let expiryRules: [UserInfoExpiry.Rule]
}

extension RecordedCommand {
  var recorded: RecordedRun? {
    RecordedRun(
      recording: recording, isDryRun: isDryRun, capacityBytes: capacityBytes,
      expiryRules: expiryRules)
  }

  var capacityBytes: ByteCount? { nil }
  var expiryRules: [UserInfoExpiry.Rule] { UserInfoExpiry.known }
}
