import Administration
import ArgumentParser
import Bytes
import Rendering
import ResponseArchives
import ResponseStorage

/// The options for the cache to work on.
struct CacheOptions: ParsableArguments {
  @Option(
    name: [.short, .customLong("cache")],
    help: ArgumentHelp(
      "The cache: a Cache.db or its folder, a Foundation or WebKit cache folder, a name from"
        + " the configuration, or the APP that 'discover' shows. Or set URLCACHE_ADMIN_CACHE.",
      valueName: "path|name"),
    completion: .requested)
  var cache: String?

  @OptionGroup var opening: OpeningOptions

  /// How long to wait for a lock, in seconds; `nil` for the default.
  var wait: Double? {
    get { opening.wait }
    set { opening.wait = newValue }
  }

  /// The configuration file to use instead of the user's.
  var config: String? { opening.config }

  /// The options for the time of evaluations.
  var time: TimeOptions { opening.time }

  /// The options for messages.
  var messages: MessageOptions { opening.messages }

  /// Creates the options that the command line sets.
  init() {}

  /// Creates options for a cache at a path that is yet to be set.
  init(_ opening: OpeningOptions) {
    self.init()
    (cache, self.opening) = (nil, opening)
  }

  /// Fills in options that the command line does not set.
  mutating func fill(from settings: CacheSettings) {
    wait = wait ?? settings.wait
  }

  /// Opens the cache, and reports notes about it.
  ///
  /// - Parameter copy: The path of a copy to open instead.
  func open(
    in environment: CommandEnvironment, copy: String? = nil
  ) throws -> any ResponseSource {
    try openCache(in: environment, copy: copy).source
  }

  private func openCache(in environment: CommandEnvironment, copy: String?) throws -> OpenedCache {
    let path = try copy ?? path(in: environment)
    let cache = try environment.openSource(
      path, waitMilliseconds, time.given(in: environment)?.time ?? environment.now)
    for note in cache.source.description.notes { environment.note(note) }
    if case .archive(let archive) = cache {
      for omission in archive.omissions {
        environment.note(
          omission.words("in the archive is not shown", "in the archive are not shown"))
      }
      environment.note(lacksOf: archive)
    }
    return cache
  }

  /// Opens the cache for planning changes, and rejects a cache that cannot be changed: a dry run must not promise what
  /// a real run would refuse.
  func openForPlanning(
    in environment: CommandEnvironment, copy: String? = nil
  ) throws -> any StoreSource {
    switch try openCache(in: environment, copy: copy) {
    case .archive(let archive): throw CommandFailure.archive(at: archive.description.path)
    case .store(let source):
      let store = source.description
      if let readOnlyReason = store.readOnlyReason {
        throw StoreError(.unsupported, at: store.path, because: readOnlyReason)
      }
      return source
    }
  }

  /// Rejects the name of a cache if the command runs for all caches.
  func refuseName() throws(CommandFailure) {
    if cache != nil { throw .usage("'--all-caches' and '-c' cannot be combined") }
  }

  /// Returns the name of the cache in the configuration, even if the command line has its path; `nil` if it has none.
  func name(in environment: CommandEnvironment) -> String? { environment.places.name(of: cache) }

  /// Returns the path of the cache.
  func path(in environment: CommandEnvironment) throws(CommandFailure) -> String {
    let configuration = environment.configuration
    guard let cache = cache ?? configuration.value(of: .cache, forCache: nil)?.text, !cache.isEmpty
    else {
      throw .usage(
        "no cache given",
        hint: environment.lineWithOnlyCache.map { "write: \($0)" }
          ?? "name it as the first operand or with '-c'; find caches with: urlcache-admin discover")
    }
    // Names of the configuration come before paths.
    let path = configuration.path(ofCache: cache)?.text ?? cache
    environment.record.paths.insert(path)
    return path
  }

  // SQLite takes the time in an `int` of milliseconds, so longer ones are cut before the conversion
  // could trap.
  /// The time to wait for a lock, in milliseconds: five seconds by default, at most a day.
  var waitMilliseconds: Int32 { Int32(min(max((wait ?? 5) * 1_000, 0), 86_400_000)) }

  /// Returns the time for all evaluations.
  func now(in environment: CommandEnvironment) -> Timestamp {
    time.now(in: environment)
  }
}

extension CommandEnvironment {
  /// The command line with the only cache of the configuration; `nil` if there are none or several.
  fileprivate var lineWithOnlyCache: String? {
    guard configuration.cacheNames.count == 1, let name = configuration.cacheNames.first,
      !words.isEmpty
    else { return nil }
    return OptionHints.commandLine(words, adding: ["-c", name])
  }
}

/// The options for opening a cache.
struct OpeningOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "How long to wait for another process to release the cache; Apple caches only.",
      valueName: "duration"),
    transform: parseDuration)
  var wait: Double?

  @Option(
    help: ArgumentHelp(
      "Use this configuration file instead of the user's; see 'urlcache-admin config'.",
      valueName: "file"),
    completion: .file(extensions: ["toml"]))
  var config: String?

  @OptionGroup var time: TimeOptions
  @OptionGroup var messages: MessageOptions
}

/// The options for the caches that a command runs for.
struct ScopeOptions: ParsableArguments {
  @Flag(help: "Run the command for each cache named in the configuration.")
  var allCaches = false
}

/// The options for the time of evaluations.
struct TimeOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Evaluate ages as of this time instead of now.", valueName: "time"),
    transform: parseTime)
  var at: WrittenTime?

  /// Returns the time for all evaluations.
  func now(in environment: CommandEnvironment) -> Timestamp {
    let given = given(in: environment)
    if let note = given?.note { environment.noteOnce(note) }
    return given?.time ?? environment.now
  }

  /// Returns the time that the option sets, or else the environment variable.
  func given(in environment: CommandEnvironment) -> WrittenTime? {
    at ?? environment.evaluationTime
  }
}

extension CommandEnvironment {
  /// Reports a note, which is no failure.
  func note(_ text: String) {
    inform("note: \(printable(text))\n")
  }

  /// Writes a message that a user may do without.
  func inform(_ message: String) {
    if !isQuiet { writeMessage(message) }
  }

  /// Suggests a command or an option.
  func hint(_ text: String) {
    inform(messageStyle.text("hint: \(printable(text))", as: .hint) + "\n")
  }

  /// Reports a note on an option once, although a command reads its options for each cache, attempt and round.
  func noteOnce(_ text: String) {
    if reportedNotes.insert(text) { note(text) }
  }
}

/// The cache as the first operand of a command.
///
/// ArgumentParser cannot know whether the first operand is a cache or an entry, so ``CacheOperandCommand`` decides later.
struct CacheOperand: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "The cache, as with '-c'. URLs and ids are never taken for a cache.", valueName: "cache"),
    completion: .requested)
  var first: String?
}

/// The options for the expiry rules of the app.
struct ExpiryOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Treat an entry as stale when this many seconds have passed since the date that its user info"
        + " has under this key. CustomURLCacheExpiration=600 applies by default.",
      valueName: "key=seconds"),
    transform: parseExpiryRule)
  var userInfoExpiry: [UserInfoExpiry.Rule] = []

  // A rule for the key of a built-in one takes its place, as an app may use another time under the
  // same key.
  /// The given rules and the built-in ones.
  var rules: [UserInfoExpiry.Rule] { UserInfoExpiry.rules(adding: userInfoExpiry) }
}

/// Parses an expiry rule: `KEY=SECONDS`.
func parseExpiryRule(_ text: String) throws -> UserInfoExpiry.Rule {
  do { return try UserInfoExpiry.Rule(written: text) } catch { throw ValidationError(error) }
}

extension CacheOptions {
  /// Returns the rules for the cache, with ages relative to `now`.
  func rules(at now: Timestamp, in environment: CommandEnvironment) -> EntryRules {
    let rules = environment.configuration.rules(forCache: name(in: environment))
    for note in rules.flatMap(\.match.notes) { environment.noteOnce(note) }
    return EntryRules(rules, at: now)
  }
}
