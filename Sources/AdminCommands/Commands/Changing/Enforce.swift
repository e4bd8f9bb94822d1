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
        If a size limit is exceeded, 'enforce' first removes orphans (body files that
        no entry refers to), then reclaims free pages, and only then removes entries
        until the cache is below the limit: the oldest first, unless '--order' names
        another order. Orphans less than ten minutes old are kept, because an app may
        still be writing them. Backups do not contain orphans.

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
    var recording: RecordOptions { change.recording }
    var expiryRules: [UserInfoExpiry.Rule] { selection.expiry.rules }
    var capacityBytes: ByteCount? { limit.capacity ?? limit.maxSize }
    var newFiles: [NewFileOption] { planning.newFiles }

    mutating func fill(from settings: CacheSettings) {
      cache.fill(from: settings)
      change.fill(from: settings)
      securing.fill(from: settings)
      limit.fill(from: settings)
      // Only here: other commands would replace the metrics of the nightly run.
      change.recording.metricsFile = change.recording.metricsFile ?? settings.metricsFile
    }

    func validate() throws { try schedule.check(with: planning) }

    /// The last round removes everything that may be removed. With a backup there is one round, because the backup only
    /// contains what that removes.
    var mostRounds: Int { planning.backup == nil ? 20 : 1 }

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
      renderer.listsOrphans = true
      securing.prepare(&renderer, for: plan, in: environment)
      // Before the question: what stays may be a reason to answer no.
      environment.note(leftBy: plan, "kept")
      let simulation = try simulation(of: plan, in: environment)
      if try planning.save(
        simulation.plan, by: "enforce", secure: securing.isOn, in: environment)
      {
        return try report(simulation.plan, asPlanned: true, in: environment)
      }
      // Ask about the simulated plan, which contains the removals of all rounds.
      guard try change.allow(simulation.plan, renderer, in: environment) else {
        environment.note("nothing was removed")
        return .done
      }
      // The question shows the freed space instead.
      renderer.showsFootprint = true
      // A cache that is emptied and still over its limit has lost its entries for nothing.
      let isRefused = simulation.plan.shortfall != nil && !bestEffort
      guard !change.dryRun, !isRefused else {
        var shown = simulation.plan
        // The growth of the log also depends on the other process.
        if shown.store.inUse, simulation.ranOnCopy, shown.meetsLimits == true {
          shown.meetsLimits = nil
        }
        var receipt = RemovalReceipt(previewing: shown)
        receipt.footprintAfter = simulation.footprintAfter
        try receipt.write(by: renderer, as: change.format, in: environment)
        let status = try report(simulation.plan, asPlanned: change.dryRun, in: environment)
        // A dry run shows the plan before it fails on the cap.
        try change.checkLimit(of: simulation.plan)
        if change.dryRun, change.format == .table, !simulation.plan.isEmpty {
          environment.suggestRunning()
        }
        return status
      }
      // Execute the simulated plan as a whole if nothing can be measured between rounds: a backup must contain
      // everything, and each round makes the log of another process longer.
      let isWhole =
        simulation.ranOnCopy && !bestEffort && (planning.backup != nil || plan.store.inUse)
      let chosen = isWhole ? simulation.plan : plan
      // Last before the removal, so that it contains the entries as they are then.
      try planning.backUp(chosen, of: cache, in: environment)
      return try carryOut(chosen, inOneRound: isWhole, renderer, environment)
    }

    /// Returns the words for the cache and its limits in a hint, as the user wrote them, so that the same rules apply.
    private func commandWords(
      in environment: CommandEnvironment
    ) throws -> LimitShortfallRenderer.CommandWords {
      let name = try cache.name(in: environment) ?? cache.path(in: environment)
      let file = cache.config.map { ShellText.option("--config", "--config", $0) + " " } ?? ""
      return LimitShortfallRenderer.CommandWords(
        cache: file + ShellText.option("-c", "--cache", name), minFree: limit.minFree?.text)
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
      _ = try selection.parsed(at: now, of: cache, in: environment)
    }

    /// Creates a plan from the current state of the cache, and closes it.
    ///
    /// - Parameters:
    ///   - round: The round to plan for; `nil` for the first.
    ///   - copy: The copy of the cache to plan for; `nil` for the cache itself.
    ///   - done: The plan that was executed last.
    func plan(
      in environment: CommandEnvironment, for round: CacheLimits.Round? = nil,
      of copy: RemovalSimulation.Copy? = nil, after done: EnforcementRounds.Done? = nil
    ) throws -> RemovalPlan {
      let now = cache.now(in: environment)
      let rules = cache.rules(at: now, in: environment)
      // Opened anew for each round: the sizes of a database that is open for writing do not show
      // what closing it gives back.
      let source = try cache.openForPlanning(in: environment, copy: copy?.path)
      var room = try environment.fileSystem(cache.path(in: environment))
      if let copy, limit.minFree != nil {
        try room.available += copy.bytesReturned(by: source)
      }
      var limits = limit.limits(available: room.available, total: room.total)
      limits.isBestEffort = bestEffort
      if source.description.format.hasDatabase {
        // A backup allows no second round, so remove a bit more at once.
        limits.round =
          round ?? .init(margin: planning.backup == nil ? 0 : (limit.bytes ?? 0) / 64)
      }
      if let done, let plan = try settledPlan(after: done, enforcing: limits, on: source) {
        try source.finish()
        return plan
      }
      let selection = try selection.resolved(
        at: now, of: cache, from: source, in: environment)
      let pins = try pinning.pins(of: cache, in: environment)
      var plan = try environment.showingProgress("Reading entries", over: source) {
        try RemovalPlan(
          enforcing: limits, on: source, among: selection, by: rules, keeping: pins, now: now,
          clock: environment.now, temporaryFolder: environment.temporaryFolder)
      }
      // A body file without an entry is a body that was removed before.
      if securing.isOn, plan.shortfall == nil {
        try plan.insertOrphans(of: source, now: environment.now)
      }
      try source.finish()
      return plan
    }

    /// Returns the plan if nothing is left to do after a plan was executed; `nil` if that needs a look at all entries.
    private func settledPlan(
      after done: EnforcementRounds.Done, enforcing limits: CacheLimits,
      on source: any ResponseSource
    ) throws -> RemovalPlan? {
      // Securely, the files that no entry refers to are also removed.
      guard !securing.isOn, let remaining = done.remainingEntries else { return nil }
      return try RemovalPlan(
        after: done.plan, leaving: remaining, enforcing: limits, on: source)
    }

    /// Creates a plan for what is left after a plan was executed.
    private func plan(
      after done: EnforcementRounds.Done, for round: CacheLimits.Round,
      in environment: CommandEnvironment
    ) throws -> RemovalPlan {
      do {
        return try plan(in: environment, for: round, after: done)
      } catch let error as StoreError {
        // An empty folder is not recognizable as a cache any more.
        guard error.code == .notACache, !done.plan.store.format.hasDatabase else { throw error }
        var empty = done.plan
        (empty.entries, empty.storedEntries, empty.orphanEntries) = (.init(), 0, 0)
        empty.footprint = Footprint()
        return empty
      }
    }

    private func carryOut(
      _ plan: consuming RemovalPlan, inOneRound isWhole: Bool, _ renderer: RemovalRenderer,
      _ environment: CommandEnvironment
    ) throws -> ExitStatus {
      // Hold signals, so that one ends the process only after the current batch and the receipt.
      let signals = HeldSignals()
      var execution = PlanExecution(cache: cache, change: change, environment: environment)
      execution.secure = securing.removal(
        of: cache, by: change, backup: planning.backup, in: environment)
      var rounds = EnforcementRounds(plan, keeping: limit.ofSizeAndNumber, execution) {
        done, round in
        try self.plan(after: done, for: round, in: environment)
      }
      try rounds.carryOut(atMost: isWhole ? 1 : mostRounds) { environment.stopReason(signals) }
      // A run that was stopped has not shown that the limits cannot be met.
      if rounds.stop == nil { rounds.explainShortfall() }
      var receipt = rounds.total
      receipt.footprintAfter = rounds.stop != nil ? nil : rounds.plan.footprint.totalBytes
      try execution.erase(after: &receipt) { environment.stopReason(signals) != nil }
      try receipt.write(by: renderer, as: change.format, in: environment)
      receipt.reportRemainder(in: environment)
      receipt.erasure?.suggestNextCommand(for: receipt.plan.store.path, in: environment)
      if rounds.stop == .maxRuntime, receipt.remainder == nil {
        environment.note(
          "stopped by '--max-runtime' before measuring whether more entries must be removed")
      }
      if change.format == .table, rounds.stop == nil {
        let path = receipt.plan.store.path
        environment.suggest("show what the cache contains now with", ["usage", "-c", path])
      }
      if try report(receipt.plan, asPlanned: false, in: environment) == .no { return .no }
      return receipt.isComplete && rounds.stop == nil ? .done : .partly
    }
  }
}
