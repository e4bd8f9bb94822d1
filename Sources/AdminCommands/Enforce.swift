import Administration
import ArgumentParser
import Files
import Rendering
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin enforce`: makes a cache keep limits.
  struct Enforce: ScheduledCommand {
    static let configuration = CommandConfiguration(
      commandName: "enforce",
      abstract: "Make a cache keep limits of size, number and age, also beside a running app.",
      discussion: """
        Entries go until what all files take up keeps the limit: it removes, gives free
        pages back, measures, and goes on if that was not enough (not with '--backup',
        which holds what goes first). With selection options only those entries go.
        Rules of the configuration go before limits: what a rule keeps stays, and
        'urlcache-admin policy test' shows which rule decides. In a folder of
        Foundation's an entry gives back exactly its file, and what URLCache does not
        count stays.

        EXIT STATUS
          0 done · 1 a limit cannot be met, or '--max-delete' · 3 also '--max-runtime'
          · 64 also without '--yes' and terminal · 65 · 66 · 73 '--backup' · 74 · 75 ·
          77 · 78 · 130 · 143
        """,
      aliases: ["trim"])

    @OptionGroup var limit: LimitOptions
    @OptionGroup(title: "Selection") var selection: SelectionOptions
    @OptionGroup(title: "Cache") var cache: CacheOptions
    @OptionGroup var change: ChangeOptions
    @OptionGroup var planning: PlanOptions
    @OptionGroup var secrets: SecretOptions
    @OptionGroup var schedule: ScheduleOptions

    var writesJSON: Bool { change.format == .json }
    var isDryRun: Bool { change.dryRun }

    func validate() throws { try schedule.check(with: planning) }

    /// More rounds than these bring nothing more. A backup holds what the first removes, and no more may go.
    var mostRounds: Int { planning.backup == nil ? 8 : 1 }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      let plan = try plan(in: environment)
      var renderer = RemovalRenderer(
        verb: "enforce", isDryRun: change.dryRun, secrets: secrets.policy)
      renderer.listsRules = true
      environment.note(leftBy: plan, "left")
      let rehearsal = try rehearsal(of: plan, in: environment)
      if try planning.save(rehearsal.plan, by: "enforce", in: environment) {
        return rehearsal.plan.meetsLimits == false ? .no : .done
      }
      guard try change.allow(rehearsal.plan, renderer, in: environment) else {
        environment.note("nothing was removed")
        return .done
      }
      guard !change.dryRun else {
        var receipt = RemovalReceipt(rehearsal.plan, renderer, change.format)
        receipt.showsFootprint = true
        receipt.footprintAfter = rehearsal.footprintAfter
        try receipt.write(in: environment)
        return rehearsal.plan.meetsLimits == false ? .no : .done
      }
      try planning.backUp(plan, of: cache, in: environment)
      return try carryOut(plan, renderer, environment)
    }

    /// Makes a plan of the cache as it is now; the cache is not open afterwards.
    ///
    /// - Parameters:
    ///   - round: What the plan is made for; `nil` for the first round.
    ///   - copy: The copy of the cache that the plan is made of; `nil` for the cache itself.
    func plan(
      in environment: CommandEnvironment, for round: EnforcementRounds.Round? = nil,
      of copy: RehearsalCopy? = nil
    ) throws -> RemovalPlan {
      let now = cache.now(in: environment)
      let policy = try cache.policy(at: now, in: environment)
      guard !limit.isEmpty || !policy.rules.isEmpty else {
        throw CommandFailure.noLimits
      }
      let source = try cache.openForPlanning(in: environment, copy: copy?.path)
      var room = try environment.fileSystem(cache.path(in: environment))
      if let copy, limit.minFree != nil {
        room.available = try room.available.addingClamped(copy.bytesReturned(by: source))
      }
      var limits = limit.limits(available: room.available, total: room.total)
      if source.description.format.hasDatabase {
        // There is no second round after a backup.
        limits.margin = round?.margin ?? (planning.backup == nil ? 0 : (limit.bytes ?? 0) >> 6)
        limits.isUnderway = round?.isUnderway ?? false
      }
      let plan = try RemovalPlan(
        enforcing: limits, on: source, among: selection.resolved(at: now, in: environment),
        by: policy, now: now)
      try source.finish()
      return plan
    }

    /// Makes a plan of what is left of a cache that a plan was carried out on.
    private func plan(
      after done: RemovalPlan, for round: EnforcementRounds.Round,
      in environment: CommandEnvironment
    ) throws -> RemovalPlan {
      do { return try plan(in: environment, for: round) } catch let error as StoreError {
        // A folder that has no entry any more cannot be told from others.
        guard error.code == .notACache, !done.store.format.hasDatabase else { throw error }
        var empty = done
        (empty.entries, empty.storedEntries, empty.orphanEntries) = ([], 0, 0)
        empty.footprint = Footprint()
        return empty
      }
    }

    private func carryOut(
      _ plan: consuming RemovalPlan, _ renderer: RemovalRenderer, _ environment: CommandEnvironment
    ) throws -> ExitStatus {
      // A signal ends the process after the batch that it comes in, and after the receipt.
      let signals = HeldSignals()
      let execution = PlanExecution(cache: cache, change: change, environment: environment)
      var rounds = EnforcementRounds(plan, limit, execution) { done, round in
        try self.plan(after: done, for: round, in: environment)
      }
      try rounds.carryOut(atMost: mostRounds) { environment.stopReason(signals) }
      var receipt = execution.receipt(of: rounds.total, renderer)
      receipt.showsFootprint = true
      receipt.footprintAfter = rounds.stop != nil ? nil : rounds.plan.footprint.totalBytes
      try receipt.write(in: environment)
      rounds.total.tellRest(in: environment)
      if rounds.stop == .maxRuntime, rounds.total.rest == nil {
        environment.note("stopped by '--max-runtime' before it was measured whether more has to go")
      }
      if rounds.total.done.meetsLimits == false {
        environment.writeMessage(whyNot(rounds.plan) + "\n")
        return .no
      }
      return rounds.total.isComplete && rounds.stop == nil ? .done : .partly
    }

    /// Why a limit is not kept although all was done that could be.
    private func whyNot(_ plan: RemovalPlan) -> String {
      let footprint = plan.footprint
      var reasons: [String] = []
      if plan.store.inUse, footprint.walBytes > 0 || footprint.freeBytes > 0 {
        reasons.append(
          "another process has the cache open, and keeps \(ByteSizeText.text(footprint.walBytes)) in its log"
        )
      }
      if plan.store.format.hasDatabase, footprint.orphanBytes > 0 {
        reasons.append(
          "\(ByteSizeText.text(footprint.orphanBytes)) are in files that no entry names")
      }
      reasons.append("\(plan.storedEntries) entries stay")
      return "a limit is not kept: still \(ByteSizeText.text(footprint.totalBytes)); "
        + reasons.joined(separator: "; ")
    }
  }
}
