import Administration
import ArgumentParser
import Bytes

/// A command on a cache that takes defaults from the configuration.
///
/// The command line is parsed once. Missing options are then filled in with typed values from environment variables,
/// the section of the cache, and the settings for all caches, in this order.
protocol ConfiguredCommand: AdminCommand {
  /// The cache to work on.
  var cache: CacheOptions { get set }

  // Known before the run, so that a name that is taken is reported before anything is removed.
  /// The files that the command creates, and that must not exist yet.
  var newFiles: [NewFileOption] { get }

  /// The other files that the command writes.
  var outputs: [String] { get }

  /// The files that the command reads besides the cache.
  var inputs: [String] { get }

  /// When the command runs; `nil` if at once.
  var scheduling: ScheduleOptions? { get }

  /// The name of the cache in the configuration, whose settings the command uses; `nil` if it has none.
  func configuredName(in environment: CommandEnvironment) -> String?

  /// The path of the cache that the command works on; `nil` if it works on none.
  func workedPath(in environment: CommandEnvironment) throws -> String?

  /// Whether the command changes nothing, so that nothing is created or recorded.
  var isDryRun: Bool { get }

  /// Whether the command runs for each named cache.
  var runsForAllCaches: Bool { get }

  /// Whether the command changes nothing, so that it can be run again.
  var onlyLooks: Bool { get }

  /// Whether the user is not asked before changes.
  var isConfirmed: Bool { get }

  /// What is recorded of a run; `nil` if nothing is.
  var recorded: RecordedRun? { get }

  /// Fills in options that the command line does not set.
  mutating func fill(from settings: CacheSettings)

  /// Decides which operand is the cache, and which name entries.
  ///
  /// - Throws: ``CommandFailure`` if an operand could mean two things.
  mutating func takeOperands(in environment: CommandEnvironment) throws
}

extension ConfiguredCommand {
  var newFiles: [NewFileOption] { [] }

  var outputs: [String] { [] }

  var inputs: [String] { [] }

  var scheduling: ScheduleOptions? { nil }

  func configuredName(in environment: CommandEnvironment) -> String? {
    cache.name(in: environment)
  }

  func workedPath(in environment: CommandEnvironment) throws -> String? {
    let hasCache =
      cache.cache != nil || environment.configuration.value(of: .cache, forCache: nil) != nil
    return hasCache ? try cache.path(in: environment) : nil
  }

  var isDryRun: Bool { false }

  var runsForAllCaches: Bool { false }

  var onlyLooks: Bool { !VerbSynonyms.changing.contains(Self._commandName) }

  var isQuiet: Bool { cache.messages.quiet }

  var isConfirmed: Bool { false }

  var recorded: RecordedRun? { nil }

  mutating func fill(from settings: CacheSettings) {
    cache.fill(from: settings)
  }

  mutating func takeOperands(in environment: CommandEnvironment) {}

  /// Runs the command for its cache, or for each named cache, with the configured settings.
  func runCommandLine(in environment: CommandEnvironment) -> ExitStatus {
    var runs = CacheRuns(of: self, in: environment)
    return runs.run()
  }

  /// Returns the command with the settings of its cache.
  ///
  /// - Parameter name: The cache to run it for instead of its own; `nil` to keep that.
  func configured(
    by settings: CacheSettings, forCache name: String?
  ) -> any ConfiguredCommand {
    var command = self
    if let name { command.cache.cache = name }
    command.fill(from: settings)
    return command
  }
}

/// A command that can run for each named cache.
protocol AllCachesCommand: ConfiguredCommand {
  /// The caches it runs for.
  var scope: ScopeOptions { get }
}

extension AllCachesCommand {
  var runsForAllCaches: Bool { scope.allCaches }
}

/// An option with the path of a file that the command creates.
struct NewFileOption {
  /// The option, such as `--plan`.
  let option: String
  /// The path of the file.
  let path: String
}

/// A command that can write a log and metrics.
protocol RecordedCommand: ConfiguredCommand {
  /// The options for the log and metrics.
  var recording: RecordOptions { get }

  /// The maximum size on disk, in bytes, if the command knows it.
  var capacityBytes: ByteCount? { get }

  /// The expiry rules of the app, which affect freshness.
  var expiryRules: [UserInfoExpiry.Rule] { get }
}

/// How a run is recorded.
struct RecordedRun {
  /// The options for the log and metrics.
  let recording: RecordOptions
  /// Whether the run changes nothing, so that nothing is recorded.
  let isDryRun: Bool
  /// The maximum size on disk, in bytes, if the command knows it.
  let capacityBytes: ByteCount?
  /// The expiry rules of the app, which affect freshness.
  let expiryRules: [UserInfoExpiry.Rule]
}

extension RecordedCommand {
  var outputPurpose: OutputPurpose { isDryRun ? .answer : .receipt }

  var recorded: RecordedRun? {
    RecordedRun(
      recording: recording, isDryRun: isDryRun, capacityBytes: capacityBytes,
      expiryRules: expiryRules)
  }

  var onlyLooks: Bool { isDryRun || !VerbSynonyms.changing.contains(Self._commandName) }

  var capacityBytes: ByteCount? { nil }
  var expiryRules: [UserInfoExpiry.Rule] { UserInfoExpiry.known }
}
