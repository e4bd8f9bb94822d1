import Administration
import ArgumentParser
import Bytes
import Files
import Rendering
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin purge`: removes the selected entries.
  struct Purge: ScheduledCommand, AllCachesCommand, SelectingCommand, RecordedCommand {
    static let configuration = CommandConfiguration(
      commandName: "purge",
      abstract: "Remove entries, even while the app is running.",
      discussion: """
        Asks for confirmation unless you give '--yes'. Responses that the app has in
        memory stay there until it quits. Pinned entries are kept; see 'pin'.
        '--sidecars' also removes the ETag sidecar files of the URLs, unless another
        entry has the same URL.

        '--secure' overwrites body files before it removes them, rewrites the database
        and overwrites its log, and then searches the bytes of all files for the keys,
        URLs and bodies of the removed entries. It also removes orphans, and
        overwrites what earlier removals left behind. While an app is running, it does
        only what does not block the app, lists what may remain, and exits with
        status 3. It cannot reach blocks that an SSD has remapped, old blocks of a
        copy-on-write file system, snapshots, backups, or memory.

        In a Foundation cache, each entry is a file, and only regular files are
        removed. '--secure' and 'check --repair=orphans' remove files that URLCache
        does not see, such as those left by a crash. A URL selects the entry that the
        cache returns for it, even if the scheme or query differs; a note points that
        out.
        """,
      aliases: ["rm"])

    @OptionGroup var operands: CacheOperand
    @OptionGroup(title: "Selection") var selection: SelectionOptions
    @OptionGroup(title: "Cache") var cache: CacheOptions
    @OptionGroup(title: "Cache") var scope: ScopeOptions
    @OptionGroup(title: "Changes") var change: ChangeOptions
    @OptionGroup(title: "Changes") var pinning: PinOptions
    @OptionGroup(title: "Changes") var planning: PlanOptions
    @OptionGroup(title: "Changes") var securing: SecureOptions
    @OptionGroup(title: "Output") var secrets: SecretOptions
    @OptionGroup(title: "Output") var terminal: TerminalOptions
    @OptionGroup(title: "Changes") var sidecars: SidecarOptions
    @OptionGroup(title: "Schedule") var schedule: ScheduleOptions

    @Flag(help: "Select all entries.")
    var all = false

    var writesJSON: Bool { change.format == .json }
    var isDryRun: Bool { change.dryRun }
    var isConfirmed: Bool { change.yes }
    var recording: RecordOptions { change.recording }
    var expiryRules: [UserInfoExpiry.Rule] { selection.expiry.rules }
    var newFiles: [NewFileOption] { planning.newFiles }
    var outputPurpose: OutputPurpose {
      planning.plan != nil ? .product : isDryRun ? .answer : .receipt
    }

    mutating func fill(from settings: CacheSettings) {
      cache.fill(from: settings)
      change.fill(from: settings)
      securing.fill(from: settings)
    }

    func validate() throws {
      try schedule.check(with: planning.backingUp)
      try sidecars.check(with: scope)
      guard sidecars.sidecars == nil || planning.plan == nil else {
        throw ValidationError("'--plan' and '--sidecars' cannot be combined.")
      }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      var absence = ExitStatus.done
      let now = cache.now(in: environment)
      let selection = try checkedSelection(at: now, in: environment)
      // Saving a plan changes nothing in the cache, so leave the files of interrupted commands, too.
      if planning.plan == nil { try change.finishIntents(of: cache, in: environment) }
      let folder = try sidecars.open()
      var sidecarPlan = SidecarPlan()
      let plan = try plan(removing: selection, at: now, &absence, in: environment) {
        if let folder {
          sidecarPlan = try SidecarPlan(removingWith: $0.entries, in: folder, of: $1)
        }
      }
      if try planning.save(plan, by: "purge", secure: securing.isOn, in: environment) {
        return absence
      }
      var renderer = RemovalRenderer(
        verb: "purge", isDryRun: change.dryRun, secrets: secrets.policy)
      renderer.listsOrphans = securing.isOn
      securing.prepare(&renderer, for: plan, in: environment)
      renderer.sidecars = folder == nil ? nil : sidecarPlan.preview
      guard try change.allow(plan, renderer, in: environment) else {
        environment.note("nothing was removed")
        return .done
      }
      var execution = PlanExecution(cache: cache, change: change, environment: environment)
      execution.sidecars = folder.map { (sidecarPlan, $0) }
      execution.secure = securing.removal(
        of: cache, by: change, backup: plan.entries.isEmpty ? nil : planning.backup, in: environment
      )
      var isComplete = true
      if change.dryRun || plan.entries.isEmpty && execution.secure == nil {
        try execution.preview(plan, renderer)
      } else {
        try planning.backUp(plan, of: cache, in: environment)
        isComplete = try execution.run(plan, renderer)
      }
      // Selected entries that cannot be removed make the run incomplete, and so do named entries that are pinned.
      if plan.kept[.notARegularFile] != nil { isComplete = false }
      if selection.names != nil, plan.kept[.pinned] != nil { isComplete = false }
      return absence == .done && !isComplete ? .partly : absence
    }

    /// Returns the selection; an empty selection never means all entries.
    private func checkedSelection(
      at now: Timestamp, in environment: CommandEnvironment
    ) throws -> Selection {
      let selection = try selection.parsed(at: now, of: cache, in: environment)
      // `purge` with an empty shell variable must not empty the cache.
      if selection.isEmpty, !all {
        throw CommandFailure.usage(
          "no entries selected",
          hint: "give URLs, options such as '--older-than 30d', or '--all'")
      }
      return selection
    }

    /// Creates the plan, and reports what could not be selected.
    ///
    /// - Parameters:
    ///   - absence: Set to the exit status for absent names.
    ///   - planMore: Plans other removals along with the entries, while the cache is open.
    private func plan(
      removing selection: Selection, at now: Timestamp, _ absence: inout ExitStatus,
      in environment: CommandEnvironment,
      _ planMore: (RemovalPlan, any ResponseSource) throws -> Void
    ) throws -> RemovalPlan {
      let source = try cache.openForPlanning(in: environment)
      var selection = selection
      try selection.prepare(for: source, at: now, in: environment)
      // The option is easily read the other way round, as `removeCachedResponses(since:)` is: it
      // removes what is newer than its date.
      if let after = selection.after {
        environment.note(
          "selecting entries stored after \(TimeText.text(after)), that is, newer entries")
      }
      // The table does not show the size of kept entries, so do not measure it.
      let pins = try pinning.pins(of: cache, in: environment)
      var plan = try environment.showingProgress("Selecting entries", over: source) {
        try RemovalPlan(
          removing: selection, from: source, now: now, keeping: pins,
          measuringKept: writesJSON || planning.plan != nil)
      }
      // A body file without an entry is a body that was removed before.
      if securing.isOn { try plan.insertOrphans(of: source, now: environment.now) }
      environment.note(leftBy: plan, "not selected")
      if selection.selectsSuperseded {
        var kinds = SupersededKinds()
        try plan.entries.forEach { kinds.insert($0.url ?? $0.version.key) }
        environment.note(kinds)
      }
      if plan.entries.isEmpty { try environment.report(valuesAbsentFrom: source, selection) }
      absence = environment.report(absent: plan.absent, secrets.policy)
      if absence != .done {
        environment.report(try plan.absent.help(in: source, secrets.policy))
      }
      // Sidecar files are compared with the entries of the same reading. In a second one, an entry
      // could have gone, and its sidecar file with it.
      try planMore(plan, source)
      try source.finish()
      return plan
    }
  }
}
