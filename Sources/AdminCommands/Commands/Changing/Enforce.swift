import Administration
import ArgumentParser
import Bytes
import Files
import Rendering
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin enforce`: brings a cache within its limits.
  struct Enforce: ScheduledCommand, AllCachesCommand, SelectingCommand, RecordedCommand {
    static let configuration = CommandConfiguration(
      commandName: "enforce",
      abstract: "Enforce limits on size, number and age, even while the app is running.",
      discussion: """
        '--max-size' limits the space in use: the part of the database that entries
        use, their body files, and orphans (body files that no entry refers to) older
        than ten minutes. It does not depend on whether an app has the cache open.
        Entries that exceed '--max-age' or '--max-entry-size' are removed first. If
        the space in use still exceeds the limit, 'enforce' then removes orphans, and
        then entries: the oldest first (in a WebKit cache, the least recently used),
        unless '--order' names another order. Orphans less than ten minutes old are
        kept, because an app may still be writing them. Backups do not contain
        orphans.

        If the files are larger than the limit, 'enforce' reclaims free space in the
        database, as 'compact' does. Space that cannot be reclaimed is reported; no
        entry is removed because of it.

        If the limits cannot be met even by removing everything that the selection and
        the rules allow, nothing is removed: the command lists the reasons and exits
        with status 1. '--best-effort' removes what it can. '--low' is only a target:
        if it cannot be reached, the limit applies.

        With selection options, only selected entries are removed. Entries that a
        configured rule keeps are not removed; 'urlcache-admin rules test' shows which
        rule applies. Pinned entries are kept; see 'pin'. In a Foundation cache, files
        that URLCache does not count are kept, except that '--min-free' removes files
        left by a crash.
        """,
      aliases: ["trim"])

    @OptionGroup(title: "Limits") var limit: LimitOptions

    @Flag(help: "Remove what can be removed even if a limit cannot be met.")
    var bestEffort = false

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
    @OptionGroup(title: "Schedule") var schedule: ScheduleOptions

    var writesJSON: Bool { change.format == .json }
    var isDryRun: Bool { change.dryRun }
    var isConfirmed: Bool { change.yes }
    var recording: RecordOptions { change.recording }
    var expiryRules: [UserInfoExpiry.Rule] { selection.expiry.rules }
    var capacityBytes: ByteCount? { (limit.capacity ?? limit.maxSize)?.bytes }
    var newFiles: [NewFileOption] { planning.newFiles }
    var outputPurpose: OutputPurpose {
      planning.plan != nil ? .product : isDryRun ? .answer : .receipt
    }

    mutating func fill(from settings: CacheSettings) {
      cache.fill(from: settings)
      change.fill(from: settings)
      securing.fill(from: settings)
      limit.fill(from: settings)
      // Only here: other commands would replace the metrics of the nightly run.
      change.recording.metricsFile = change.recording.metricsFile ?? settings.metricsFile
    }

    func validate() throws { try schedule.check(with: planning.backingUp) }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      // Before the intents of other commands are finished, since a wrong option must change nothing
      // at all.
      try check(at: cache.now(in: environment), in: environment)
      // Saving a plan changes nothing in the cache, so leave the files of interrupted commands, too.
      if planning.plan == nil { try change.finishIntents(of: cache, in: environment) }
      let plan = try plan(in: environment)
      var renderer = RemovalRenderer(
        verb: "enforce", isDryRun: change.dryRun, secrets: secrets.policy)
      renderer.limitCommand = try commandWords(in: environment)
      renderer.limits = limit.applied(
        toCache: cache.name(in: environment), by: environment.configuration)
      renderer.listsOrphans = true
      securing.prepare(&renderer, for: plan, in: environment)
      // Before the question: what stays may be a reason to answer no.
      environment.note(leftBy: plan, "kept")
      if try planning.save(plan, by: "enforce", secure: securing.isOn, in: environment) {
        return try report(plan, asPlanned: true, in: environment)
      }
      guard try change.allow(plan, renderer, in: environment) else {
        environment.note("nothing was removed")
        return .done
      }
      // The question shows the freed space instead.
      renderer.showsFootprint = true
      // A cache that is emptied and still over its limit has lost its entries for nothing.
      let isRefused = plan.shortfall != nil && !bestEffort
      guard !change.dryRun, !isRefused else {
        var receipt = RemovalReceipt(previewing: plan)
        receipt.footprintAfter = lengthAfter(plan)
        try receipt.write(by: renderer, as: change.format, in: environment)
        let status = try report(plan, asPlanned: change.dryRun, in: environment)
        // A dry run shows the plan before it fails on the cap.
        try change.checkLimit(of: plan)
        if change.dryRun, change.format == .table, !plan.isEmpty { environment.suggestRunning() }
        return status
      }
      // Last before the removal, so that it contains the entries as they are then.
      try planning.backUp(plan, of: cache, in: environment)
      return try carryOut(plan, renderer, environment)
    }

    /// Returns the words for the cache and its limits in a hint, as the user wrote them, so that the same rules apply.
    private func commandWords(
      in environment: CommandEnvironment
    ) throws -> LimitShortfallRenderer.CommandWords {
      let name = try cache.name(in: environment) ?? cache.path(in: environment)
      let file = cache.config.map { ShellText.option("--config", "--config", $0) + " " } ?? ""
      return LimitShortfallRenderer.CommandWords(
        cache: file + ShellText.option("-c", "--cache", name), minFree: limit.minFree?.room.text)
    }

    /// Reports which limits are not met, and why.
    private func report(
      _ plan: RemovalPlan, asPlanned isPlanned: Bool, in environment: CommandEnvironment
    ) throws -> ExitStatus {
      if let shortfall = plan.shortfall {
        var text = TextBuffer(style: environment.messageStyle)
        let outcome: LimitShortfallRenderer.Outcome =
          bestEffort || !plan.isEmpty ? .notEnough : isPlanned ? .wouldRefuse : .refused
        LimitShortfallRenderer(shortfall, of: plan.store, try commandWords(in: environment))
          .appendText(outcome, into: &text)
        environment.writeMessage(String(decoding: text.bytes, as: UTF8.self))
      } else if plan.meetsLimits == false {
        environment.writeMessage("the limits were not met: some entries were not removed\n")
      }
      return plan.meetsLimits == false ? .no : .done
    }

    /// Rejects invalid options before anything changes.
    private func check(at now: Timestamp, in environment: CommandEnvironment) throws {
      guard !limit.isEmpty || !cache.rules(at: now, in: environment).isEmpty else {
        throw CommandFailure.noLimits(in: environment.words)
      }
      for note in limit.notes { environment.noteOnce(note) }
      _ = try selection.parsed(at: now, of: cache, in: environment)
    }

    /// Creates a plan from the current state of the cache, and closes it.
    private func plan(in environment: CommandEnvironment) throws -> RemovalPlan {
      let now = cache.now(in: environment)
      let rules = cache.rules(at: now, in: environment)
      let source = try cache.openForPlanning(in: environment)
      let room = try environment.fileSystem(cache.path(in: environment))
      var limits = limit.limits(available: room.available, total: room.total)
      limits.isBestEffort = bestEffort
      let selection = try selection.resolved(
        at: now, of: cache, from: source, in: environment)
      let pins = try pinning.pins(of: cache, in: environment)
      var plan = try environment.showingProgress("Reading entries", over: source) {
        try RemovalPlan(
          enforcing: limits, on: source, among: selection, by: rules, keeping: pins, now: now,
          clock: environment.now)
      }
      // A body file without an entry is a body that was removed before.
      if securing.isOn, plan.shortfall == nil {
        try plan.insertOrphans(of: source, now: environment.now)
      }
      try source.finish()
      return plan
    }

    private func carryOut(
      _ plan: RemovalPlan, _ renderer: RemovalRenderer,
      _ environment: CommandEnvironment
    ) throws -> ExitStatus {
      // Hold signals, so that one ends the process only after the current batch and the receipt.
      environment.record.holdSignals()
      let signals = HeldSignals()
      func stopReason() -> StopReason? { environment.stopReason(signals) }
      var execution = PlanExecution(cache: cache, change: change, environment: environment)
      execution.secure = securing.removal(
        of: cache, by: change, backup: plan.entries.isEmpty ? nil : planning.backup, in: environment
      )
      var reclaiming = SpaceReclaiming(after: plan, for: limit, execution)
      var receipt =
        plan.isEmpty && !reclaiming.isNeeded
        ? RemovalReceipt(before: plan)
        : execution.carryOut(plan, shrinking: reclaiming.isNeeded, unless: stopReason)
      // Whatever fails from here on, the receipt says what was removed.
      var failure = receipt.failure
      if failure == nil {
        do {
          receipt.footprintAfter = try reclaiming.finish(of: receipt.plan, unless: stopReason)
          try execution.erase(after: &receipt) { stopReason() != nil }
        } catch {
          (failure, receipt.footprintAfter) = (error, nil)
        }
      }
      if let failure, receipt.plan.isEmpty { throw failure }
      let isStopped = stopReason() != nil
      // A run that was stopped has not shown that the limits cannot be met.
      receipt.plan.meetsLimits =
        plan.shortfall != nil
        ? false : isStopped ? nil : receipt.plan.isWithin(limit.ofSizeAndNumber)
      var renderer = renderer
      change.shorten(&renderer, in: environment)
      renderer.explainsCompaction = true
      try receipt.write(by: renderer, as: change.format, in: environment)
      receipt.reportRemainder(in: environment)
      receipt.erasure?.suggestNextCommand(for: receipt.plan.store.path, in: environment)
      if let failure { throw failure }
      reclaiming.report(receipt.plan, in: environment)
      if change.format == .table, !isStopped {
        let path = receipt.plan.store.path
        environment.suggest("show what the cache contains now with", ["usage", "-c", path])
      }
      if try report(receipt.plan, asPlanned: false, in: environment) == .no { return .no }
      return receipt.isComplete && !isStopped ? .done : .partly
    }

    /// Returns the size on disk after a plan is executed, in bytes; `nil` if that depends on which pages of a database become free.
    private func lengthAfter(_ plan: RemovalPlan) -> ByteCount? {
      if plan.shortfall != nil, !bestEffort { return plan.footprint.totalBytes }
      guard plan.store.traits.hasDatabase, !plan.isEmpty else { return plan.footprintAfter }
      if plan.store.inUse || limit.reclaimsSpace(after: plan) { return nil }
      // SQLite deletes the log when the last process closes the database.
      return plan.footprintAfter + (plan.footprint.closedBytes - plan.footprint.totalBytes)
    }
  }
}
