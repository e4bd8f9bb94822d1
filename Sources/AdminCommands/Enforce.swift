import Administration
import ArgumentParser
import Files
import Rendering
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin enforce`: makes a cache keep limits.
  struct Enforce: AdminCommand {
    static let configuration = CommandConfiguration(
      abstract: "Make a cache keep limits of size, number and age, also beside a running app.",
      discussion: """
        Entries go until what all files take up keeps the limit: it removes, gives free pages back,
        measures, and goes on if that was not enough (not with '--backup', which holds what goes first). With
        selection options only those entries go. In a folder of Foundation's an entry gives back exactly its
        file, and what URLCache does not count stays.

        EXIT STATUS
          0 done · 1 a limit cannot be met, or '--max-delete' · 3 · 64 also without '--yes' and terminal ·
          65 · 66 · 73 '--backup' · 74 · 75 · 77 · 130 · 143
        """,
      aliases: ["trim"])

    @OptionGroup var limit: LimitOptions
    @OptionGroup var selection: SelectionOptions
    @OptionGroup var cache: CacheOptions
    @OptionGroup var change: ChangeOptions
    @OptionGroup var planning: PlanOptions
    @OptionGroup var secrets: SecretOptions

    var writesJSON: Bool { change.format == .json }

    /// More rounds than these bring nothing more. A backup holds what the first removes, and no more may go.
    private var mostRounds: Int { planning.backup == nil ? 8 : 1 }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      let plan = try plan(in: environment)
      var renderer = RemovalRenderer(
        verb: "enforce", isDryRun: change.dryRun, secrets: secrets.policy)
      environment.note(leftBy: plan, "left")
      if try planning.save(plan, by: "enforce", in: environment) {
        return plan.meetsLimits == false ? .no : .done
      }
      guard try change.allow(plan, renderer, in: environment) else {
        environment.note("nothing was removed")
        return .done
      }
      guard !change.dryRun else {
        // Of a database only the removal itself shows which pages become free.
        let footprintAfter = plan.store.format.hasDatabase ? nil : plan.footprintAfter
        try write(plan, skipped: 0, footprintAfter: footprintAfter, renderer, environment)
        return plan.meetsLimits == false ? .no : .done
      }
      renderer.isDryRun = false
      try planning.backUp(plan, of: cache, in: environment)
      return try carryOut(plan, renderer, environment)
    }

    /// Makes a plan of the cache as it is now; the cache is not open afterwards.
    private func plan(in environment: CommandEnvironment) throws -> RemovalPlan {
      let source = try cache.open(in: environment)
      let now = cache.now(in: environment)
      let room = try environment.fileSystem(source.description.path)
      let plan = try RemovalPlan(
        enforcing: limit.limits(available: room.available, total: room.total), on: source,
        among: selection.resolved(at: now, in: environment), now: now)
      try source.finish()
      return plan
    }

    /// Makes a plan of what is left of a cache that a plan was carried out on.
    private func plan(
      after done: RemovalPlan, in environment: CommandEnvironment
    ) throws -> RemovalPlan {
      do { return try plan(in: environment) } catch let error as StoreError {
        // A folder that has no entry any more cannot be told from others.
        guard error.code == .notACache, !done.store.format.hasDatabase else { throw error }
        var empty = done
        (empty.entries, empty.storedEntries, empty.orphanEntries) = ([], 0, 0)
        empty.footprint = Footprint()
        return empty
      }
    }

    private func carryOut(
      _ first: RemovalPlan, _ renderer: RemovalRenderer, _ environment: CommandEnvironment
    ) throws -> ExitStatus {
      // A signal ends the process after the batch that it comes in, and after the receipt.
      let signals = HeldSignals()
      var (total, skipped, orphaned) = (first, 0, 0)
      (total.entries, total.meetsLimits) = ([], nil)
      var plan = first
      for _ in 0..<mostRounds {
        let mustShrink =
          limit.bytes.map { plan.footprint.totalBytes > $0 } ?? (limit.minFree != nil)
        if plan.entries.isEmpty, !(mustShrink && canShrink(plan)) { break }
        let planned = plan.entries.count
        let (removal, failure) = carryOutOnce(plan, shrinking: mustShrink, environment) {
          signals.haveCome
        }
        plan.leaveOut(removal)
        total.entries += plan.entries
        skipped += removal.skipped.count
        orphaned += removal.orphanedFiles
        do {
          if let failure { throw failure }
          if signals.haveCome {
            // Whoever wants it to end does not wait until all is measured once more.
            try write(total, skipped: skipped, footprintAfter: nil, renderer, environment)
            environment.note("stopped by a signal before \(planned - removal.visited) entries")
            return .partly
          }
          let before = plan.footprint
          plan = try self.plan(after: plan, in: environment)
          // Where files cannot be removed, more entries would go for nothing.
          if plan.footprint == before || orphaned > 0 { break }
        } catch {
          environment.noteRemoved(total.entries.count, orphanedFiles: orphaned)
          throw error
        }
      }
      total.meetsLimits = plan.entries.isEmpty && plan.meetsLimits != false && !isStillOver(plan)
      total.entries.sort { $0.version.id < $1.version.id }
      try write(
        total, skipped: skipped, footprintAfter: plan.footprint.totalBytes, renderer, environment)
      environment.note(orphanedFiles: orphaned)
      if total.meetsLimits == false {
        environment.writeMessage(whyNot(plan) + "\n")
        return .no
      }
      return skipped == 0 && orphaned == 0 ? .done : .partly
    }

    /// Carries a plan out; the cache is closed when this returns, as its log goes only then, and as no
    /// file of a database may be opened beside SQLite.
    ///
    /// - Returns: What was removed, and what ended that early.
    private func carryOutOnce(
      _ plan: RemovalPlan, shrinking: Bool, _ environment: CommandEnvironment,
      unless shouldStop: () -> Bool
    ) -> (removal: Removal, failure: (any Error)?) {
      var removal = Removal()
      do {
        let store = try environment.openStore(
          plan.store.path, cache.waitMilliseconds, !change.noVerify)
        try plan.carryOut(in: store, into: &removal, unless: shouldStop)
        if shrinking { _ = try store.compact(fully: false, unless: shouldStop) }
        return (removal, nil)
      } catch {
        return (removal, error)
      }
    }

    /// Whether room comes back without any entry.
    private func canShrink(_ plan: RemovalPlan) -> Bool {
      let footprint = plan.footprint
      return footprint.freeBytes > 0
        || !plan.store.inUse && footprint.closedBytes < footprint.totalBytes
    }

    private func isStillOver(_ plan: RemovalPlan) -> Bool {
      limit.bytes.map { plan.footprint.totalBytes > $0 } ?? false
        || limit.maxEntries.map { plan.storedEntries - plan.orphanEntries > $0 } ?? false
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

    private func write(
      _ plan: RemovalPlan, skipped: Int, footprintAfter: Int64?, _ renderer: RemovalRenderer,
      _ environment: CommandEnvironment
    ) throws {
      var output = OutputBuffer(environment)
      switch change.format {
      case .table:
        renderer.appendText(
          plan, skipped: skipped, footprintAfter: footprintAfter, into: &output.text)
      case .json:
        renderer.appendJSON(
          plan, skipped: skipped, footprintAfter: footprintAfter, into: &output.text)
      }
      try output.flush()
    }
  }
}
