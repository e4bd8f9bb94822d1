import Administration
import ArgumentParser
import Bytes
import Files
import Rendering
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin expire`: clears the stamps by which an app judges that entries are valid.
  struct Expire: ScheduledCommand, AllCachesCommand, SelectingCommand, RecordedCommand {
    static let configuration = CommandConfiguration(
      commandName: "expire",
      abstract: "Clear user-info timestamps, so that an app treats entries as expired.",
      usage: "urlcache-admin expire [<cache>] [<entries> ...] --clear-user-info <key>",
      discussion: """
        Some apps store a timestamp in the user info of a response and stop using the
        response when the timestamp is too old. Without the timestamp, such an app
        downloads the resource again. Nothing else changes, and no entry is removed.
        'import --stamp-user-info' adds a timestamp.

        Apple caches only. A Foundation cache keeps the user info in the file of each
        entry; Foundation never changes such a file, so this command does not either.
        """)

    @OptionGroup var operands: CacheOperand
    @OptionGroup(title: "Selection") var selection: SelectionOptions
    @OptionGroup(title: "Cache") var cache: CacheOptions
    @OptionGroup(title: "Cache") var scope: ScopeOptions
    @OptionGroup(title: "Output") var terminal: TerminalOptions

    @Option(
      help: ArgumentHelp(
        "The user-info key to remove, such as CustomURLCacheExpiration.",
        valueName: "key"))
    var clearUserInfo: [String]

    @Flag(help: "Select all entries.")
    var all = false

    @Flag(
      name: [.customShort("n"), .long], help: "Show what would be changed; change nothing.")
    var dryRun = false

    @Flag(name: [.customShort("y"), .long], help: "Do not ask for confirmation.")
    var yes = false

    @OptionGroup var backingUp: BackupOptions

    @Flag(help: "Skip the SQLite check of the database before changing it.")
    var noVerify = false

    @OptionGroup var formats: FormatOptions<ChangeFormat>

    @OptionGroup var secrets: SecretOptions
    @OptionGroup var recording: RecordOptions
    @OptionGroup var schedule: ScheduleOptions

    var format: ChangeFormat { formats.format }
    var writesJSON: Bool { format == .json }
    var isDryRun: Bool { dryRun }
    var isConfirmed: Bool { yes }
    var expiryRules: [UserInfoExpiry.Rule] { selection.expiry.rules }
    var newFiles: [NewFileOption] { backingUp.newFiles }

    mutating func fill(from settings: CacheSettings) {
      cache.fill(from: settings)
      recording.log = recording.log ?? settings.log
    }

    func validate() throws {
      try schedule.check(with: backingUp)
      guard !clearUserInfo.contains("") else {
        throw ValidationError("'--clear-user-info' needs a key.")
      }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      if !dryRun {
        environment.finishIntents(
          at: try cache.path(in: environment), waiting: cache.waitMilliseconds)
      }
      var (result, absence) = try look(in: environment)
      let plan = result.cleared
      guard plan.count > 0, !dryRun else {
        try write(result, environment)
        return absence
      }
      guard try allow(result, in: environment) else {
        environment.note("nothing was changed")
        return .done
      }
      var versions = plan.makeVersionReader()
      try backingUp.backUp(before: .change, of: cache, in: environment) { try versions.next() }
      // Hold signals, so that one ends the process only after the current batch.
      environment.record.holdSignals()
      let signals = HeldSignals()
      let store = try environment.openStore(
        result.store.path, cache.waitMilliseconds, !noVerify)
      var failure: (any Error)?
      result.cleared = UserInfoPlan()
      do {
        try plan.carryOut(in: store, into: &result.cleared) {
          environment.stopReason(signals) != nil
        }
      } catch {
        failure = error
      }
      // The app may have stored an entry anew in the meantime. Its new stamp is right, and must
      // stay.
      result.skipped = plan.count - result.cleared.count
      try write(result, environment)
      // The receipt comes first, because some entries may have been changed before the failure.
      if let failure { throw failure }
      if result.skipped > 0 {
        environment.note(
          "entries skipped because they changed meanwhile or the command was stopped: "
            + "\(result.skipped)"
        )
        return absence == .done ? .partly : absence
      }
      return absence
    }

    /// Finds the entries to change, and closes the cache.
    private func look(
      in environment: CommandEnvironment
    ) throws -> (ClearedUserInfo, absence: ExitStatus) {
      let now = cache.now(in: environment)
      var selection = try selection.parsed(at: now, of: cache, in: environment)
      // As with `purge`, an empty selection is a mistake more often than a wish.
      guard !selection.isEmpty || all else {
        throw CommandFailure.usage(
          "no entries selected",
          hint: "give URLs, options such as '--older-than 3d', or '--all'")
      }
      let source = try cache.openForPlanning(in: environment)
      guard source.description.traits.canChangeUserInfo else {
        throw Self.unsupported(source.description)
      }
      try selection.prepare(for: source, at: now, in: environment)
      var selected: Int64 = 0
      var plan = UserInfoPlan.Writer()
      var absent = selection.names ?? EntryNames()
      var unreadable = 0
      let wanted = Set(clearUserInfo.map { ByteString($0) })
      try source.forEachRawResponse(selection.projection.union([.key, .url])) { response in
        absent.remove(response)
        return try selection.contains(response, now: now)
      } _: { raw in
        selected += 1
        let change: UserInfoChange?
        do throws(UserInfoChange.Unreadable) {
          change = try UserInfoChange(removing: wanted, from: raw)
        } catch {
          unreadable += 1
          return .next
        }
        if let change {
          let response = StoredResponse(decoding: raw, [.key, .url, .stored])
          try plan.append(UserInfoPlan.Entry(change, of: response))
        }
        return .next
      }
      var absence = environment.report(absent: absent, secrets.policy)
      if unreadable > 0 {
        environment.note(
          "entries skipped because their user info cannot be decoded: \(QuantityWords.grouped(Int64(unreadable)))"
        )
        // Entries that the user selected and that keep their stamps must not pass for done.
        if absence == .done { absence = .partly }
      }
      try source.finish()
      var result = ClearedUserInfo(
        of: clearUserInfo, try plan.finish(), in: source.description, isDryRun: dryRun)
      result.selected = selected
      return (result, absence)
    }

    private func allow(
      _ result: ClearedUserInfo, in environment: CommandEnvironment
    ) throws -> Bool {
      if yes { return true }
      return try Confirmation.change.ask(
        about: "\(QuantityWords.counted(result.cleared.count, "entry", "entries")) in "
          + Confirmation.title(ofCacheAt: result.store.path),
        in: environment,
        writing: { text, _ in
          var preview = result
          preview.isDryRun = true
          try preview.appendText(secrets.policy, into: &text)
        })
    }

    private func write(_ result: ClearedUserInfo, _ environment: CommandEnvironment) throws {
      if environment.leavesOutReceipt(as: format, isDryRun: dryRun, result.skipped == 0) { return }
      var output = OutputBuffer(environment)
      switch format {
      case .table: try result.appendText(secrets.policy, into: &output.text)
      case .json:
        try result.appendJSON(secrets.policy, into: &output.text, environment.flushIfLarge)
      }
      try output.flush()
    }

    private static func unsupported(_ store: StoreDescription) -> CommandFailure {
      .usage(
        "'expire' works on Apple caches only, and this is a \(store.traits.words ?? "archive")",
        hint: "remove the entries with 'urlcache-admin purge', so that the app downloads them again"
      )
    }
  }
}
