import Administration
import ArgumentParser
import Bytes
import ResponseArchives
import ResponseStorage

/// Which cache a command is about.
struct CacheOptions: ParsableArguments {
  @Option(
    name: [.short, .customLong("cache")],
    help: ArgumentHelp(
      "The cache: a Cache.db or its folder, a folder of Foundation's on Linux, or a name from the"
        + " configuration. Or set URLCACHE_ADMIN_CACHE.",
      valueName: "path|name"),
    completion: .requested)
  var cache: String?

  @Option(
    help: ArgumentHelp(
      "How long to wait for a lock of another process; a folder of Foundation's has none.",
      valueName: "duration"),
    transform: parseDuration)
  var wait: Double?

  @Option(
    help: ArgumentHelp(
      "The configuration to take instead of the user's; see 'urlcache-admin config'.",
      valueName: "file"),
    completion: .file(extensions: ["toml"]))
  var config: String?

  @OptionGroup var time: TimeOptions

  /// Takes what is set elsewhere where the command line does not give it.
  mutating func fill(from settings: CacheSettings) {
    wait = wait ?? settings.wait
  }

  /// Opens the cache, and tells the user what is odd about it.
  ///
  /// - Parameter copy: The path of a copy that is to be opened in its place.
  func open(
    in environment: CommandEnvironment, copy: String? = nil
  ) throws -> any ResponseSource {
    try openCache(in: environment, copy: copy).source
  }

  private func openCache(in environment: CommandEnvironment, copy: String?) throws -> OpenedCache {
    let path = try copy ?? path(in: environment)
    let cache = try environment.openSource(
      path, waitMilliseconds, time.at?.time ?? environment.now)
    for note in cache.source.description.notes { environment.note(note) }
    if case .archive(let archive) = cache {
      for omission in archive.omissions {
        environment.note("in the archive, but not shown, as \(omission.reason): \(omission.count)")
      }
    }
    return cache
  }

  /// Opens the cache for planning what to change of it, and refuses one that is never changed: a dry run
  /// must promise nothing that is refused afterwards.
  func openForPlanning(
    in environment: CommandEnvironment, copy: String? = nil
  ) throws -> any StoreSource {
    switch try openCache(in: environment, copy: copy) {
    case .archive(let archive): throw CommandFailure.archive(at: archive.description.path)
    case .store(let source):
      let store = source.description
      if let obstacle = store.obstacle {
        throw StoreError(.unsupported, at: store.path, because: obstacle)
      }
      return source
    }
  }

  /// Refuses a cache that is named although the command runs for all.
  func refuseName() throws(CommandFailure) {
    if cache != nil { throw .usage("'--all-caches' and '-c' exclude each other") }
  }

  /// The name of the cache; `nil` if it has none.
  func name(in environment: CommandEnvironment) -> String? {
    let configuration = environment.configuration
    let cache = cache ?? configuration.value(of: .cache, forCache: nil)?.text
    return cache.flatMap { configuration.path(ofCache: $0) == nil ? nil : $0 }
  }

  /// The path of the cache.
  func path(in environment: CommandEnvironment) throws(CommandFailure) -> String {
    let configuration = environment.configuration
    guard let cache = cache ?? configuration.value(of: .cache, forCache: nil)?.text, !cache.isEmpty
    else {
      throw .usage("no cache is given", hint: "name it with '-c PATH', or set URLCACHE_ADMIN_CACHE")
    }
    return configuration.path(ofCache: cache)?.text ?? cache
  }

  /// How long to wait for a lock, in milliseconds: five seconds if nothing else is said, a day at most.
  var waitMilliseconds: Int32 { Int32(min(max((wait ?? 5) * 1_000, 0), 86_400_000)) }

  /// The time that everything is evaluated as of.
  func now(in environment: CommandEnvironment) -> Timestamp {
    time.now(in: environment)
  }
}

/// Which caches a command runs for.
struct ScopeOptions: ParsableArguments {
  @Flag(help: "Run the command for each cache that has a name in the configuration.")
  var allCaches = false
}

/// The time that a command takes for now.
struct TimeOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Evaluate ages as of this time instead of now.", valueName: "time"),
    transform: parseTime)
  var at: WrittenTime?

  /// The time that everything is evaluated as of.
  func now(in environment: CommandEnvironment) -> Timestamp {
    if let note = at?.note { environment.noteOnce(note) }
    return at?.time ?? environment.now
  }
}

extension CommandEnvironment {
  /// Tells the user something that is no failure.
  func note(_ text: String) {
    writeMessage("note: \(printable(text))\n")
  }

  /// Tells the user something about an option, the first time that it is told: a command reads its options
  /// once for each cache, attempt and round.
  func noteOnce(_ text: String) {
    if reportedNotes.insert(text) { note(text) }
  }
}
