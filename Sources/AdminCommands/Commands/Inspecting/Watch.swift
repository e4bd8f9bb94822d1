import Administration
import ArgumentParser
import Bytes
import Files
import Progress
import Rendering
import ResponseStorage
import Watching

extension URLCacheAdmin {
  /// `urlcache-admin watch`: shows what an app stores, as it happens.
  struct Watch: SelectingCommand {
    static let configuration = CommandConfiguration(
      commandName: "watch",
      abstract: "Follow what an app stores, replaces and removes, as it happens.",
      discussion: """
        Checks the cache whenever it may have changed, at most ten times a second.
        Between two checks, it has no file of the cache open and holds no lock. In WAL
        mode, the app never waits; with a rollback journal, it can wait up to 50 ms.
        Entries that are stored and removed again between two checks cannot be shown,
        but are counted in an Apple cache, and on Linux in a Foundation cache.

        On a terminal, each change is a line; elsewhere, it is a JSON object. Stop
        'watch' with Control-C, or set a time limit with '--for'. With '--until', it
        ends when a matching entry is stored, so an app's test can wait for that
        entry.

        Exits with status 0 if an entry that matches '--until' was stored, and with
        status 1 if none was stored in time. Without '--until', exits with status 0
        when the time runs out.
        """,
      aliases: ["follow"])

    @OptionGroup var operands: CacheOperand
    @Option(
      name: .customLong("for"),
      help: ArgumentHelp("Stop after this time.", valueName: "duration"), transform: parseDuration)
    var time: Double?

    @Option(
      help: ArgumentHelp(
        "Stop when an entry that matches this expression is stored; the syntax is that of"
          + " '--where'.", valueName: "expression"))
    var until: String?

    @Flag(help: "If there is no cache yet, wait until there is one.")
    var retry = false

    @OptionGroup(title: "Selection") var selection: SelectionOptions
    @OptionGroup(title: "Cache") var cache: CacheOptions
    @OptionGroup(title: "Output") var secrets: SecretOptions
    @OptionGroup(title: "Output") var terminal: TerminalOptions

    @Option(
      name: [.customShort("f"), .customLong("format")],
      help: "The output format; 'json' is the same as 'ndjson' (default: table on a terminal).")
    var given: WatchFormat?

    @Flag(name: .customLong("json"), help: "The same as '--format ndjson'.")
    var isJSON = false

    var writesJSON: Bool { isJSON || given == .json || given == .ndjson }

    func validate() throws {
      guard !isJSON || given != .table else {
        throw ValidationError("'--json' and '--format table' cannot be combined.")
      }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      let now = cache.now(in: environment)
      let selection = try selection.following(at: now, of: cache, in: environment)
      let awaited = try awaited(by: selection, in: environment)
      let path = try cache.path(in: environment)
      let observer = try environment.observe(path, cache.waitMilliseconds)
      let isTable = given.map { $0 == .table } ?? (environment.isOutputTerminal && !isJSON)
      var run = try WatchRun(
        CacheWatch(selection, awaited: awaited, showing: WatchRenderer.projection), of: observer,
        WatchRun.Settings(
          path: path, isTable: isTable, secrets: secrets.policy,
          expiryRules: selection.expiryRules,
          fixedTime: cache.time.given(in: environment)?.time,
          milliseconds: time.map { Int64(min($0, 1e12) * 1_000) }, waitsForCache: retry,
          hasStatusLine: terminal.progress != .never && terminal.progress != .json),
        in: environment)
      // A signal ends the watch and not the process, so that the terminal is left clean and there is a summary.
      let signals = HeldSignals()
      let reason = try run.run(signals)
      let status: ExitStatus = reason == .time && until != nil ? .no : .done
      // Delivers the signal, which ends the process.
      _ = consume signals
      return status
    }

    /// Returns the selection of what '--until' waits for; `nil` without it.
    private func awaited(
      by selection: Selection, in environment: CommandEnvironment
    ) throws -> Selection? {
      guard let until else { return nil }
      let condition: Condition
      do throws(ConditionError) { condition = try Condition(until) } catch {
        throw CommandFailure.usage(
          error.message(about: "the expression given with '--until'", until), hint: error.hint)
      }
      for note in condition.notes { environment.noteOnce(note) }
      var awaited = Selection()
      awaited.conditions = [condition]
      awaited.ageBasis = selection.ageBasis
      awaited.expiryRules = selection.expiryRules
      if condition.fieldOfRules != nil {
        awaited.classes = try cache.classes(at: cache.now(in: environment), in: environment)
      }
      return awaited
    }
  }
}

/// The output formats of `watch`.
enum WatchFormat: String, ExpressibleByArgument, CaseIterable {
  case table, json, ndjson

  /// Parses the name of a format; `jsonl` is accepted for `ndjson`.
  init?(argument: String) {
    self.init(rawValue: argument == "jsonl" ? "ndjson" : argument)
  }
}

extension SelectionOptions {
  /// Creates a selection that is applied to one changed entry after the other.
  fileprivate func following(
    at now: Timestamp, of cache: CacheOptions, in environment: CommandEnvironment
  ) throws -> Selection {
    guard !superseded else {
      throw CommandFailure.usage(
        "'watch' does not accept '--superseded', which depends on all entries",
        hint: "list them with 'urlcache-admin list --superseded' when the app is done")
    }
    var selection = try parsed(at: now, of: cache, in: environment)
    if selection.names?.hasShortIDs ?? false {
      let source = try cache.open(in: environment)
      selection.names = try selection.names?.withFullIDs(in: source)
      try source.finish()
    }
    return selection
  }
}
