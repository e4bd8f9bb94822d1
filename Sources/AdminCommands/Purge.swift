import Administration
import ArgumentParser
import Files
import Rendering
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin purge`: removes the selected entries.
  struct Purge: AdminCommand {
    static let configuration = CommandConfiguration(
      abstract: "Remove the selected entries, also beside a running app.",
      discussion: """
        Without '--yes' it asks first. An app keeps what it has in memory until it ends.

        EXIT STATUS
          0 done · 1 a named URL or id is not there, or '--max-delete' · 3 entries changed meanwhile and
          stayed · 64 also without '--yes' and terminal · 65 · 66 · 74 · 75 · 77 · 130 · 143
        """)

    @OptionGroup var selection: SelectionOptions
    @OptionGroup var cache: CacheOptions
    @OptionGroup var change: ChangeOptions
    @OptionGroup var secrets: SecretOptions

    @Flag(help: "Select all entries.")
    var all = false

    var writesJSON: Bool { change.format == .json }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      let plan = try plan(in: environment)
      var renderer = RemovalRenderer(
        verb: "purge", isDryRun: change.dryRun, secrets: secrets.policy)
      guard try change.allow(plan, renderer, in: environment) else {
        environment.note("nothing was removed")
        return .done
      }
      if change.dryRun || plan.entries.isEmpty {
        try write(plan, skipped: 0, renderer, environment)
        return plan.absent.isEmpty ? .done : .no
      }
      renderer.isDryRun = false
      return try carryOut(plan, renderer, environment)
    }

    /// Makes the plan, and tells the user what could not be selected.
    private func plan(in environment: CommandEnvironment) throws -> RemovalPlan {
      let source = try cache.open(in: environment)
      let now = cache.now(in: environment)
      let selection = try selection.resolved(at: now, in: environment)
      if selection.isEmpty, !all {
        throw CommandFailure.usage(
          "no entry is selected",
          hint: "name URLs, give options such as '--older-than 30d', or '--all'")
      }
      if let after = selection.after {
        environment.note(
          "selected is what was stored after \(TimeText.text(after)): the newer entries")
      }
      let plan = try RemovalPlan(removing: selection, from: source, now: now)
      if plan.unknownTimes > 0 {
        environment.note("not selected, as their age is not known: \(plan.unknownTimes)")
      }
      try tell(of: plan.absent, source, environment)
      try source.finish()
      return plan
    }

    private func tell(
      of absent: EntryNames, _ source: any ResponseSource, _ environment: CommandEnvironment
    ) throws {
      _ = environment.report(absent: absent, secrets.policy)
      let urls = absent.names.compactMap { if case .url(let url) = $0 { url } else { nil } }
      // A list of many is a file that somebody made, and no slip of the hand.
      guard !urls.isEmpty, urls.count <= 20 else { return }
      let misses = try NearMisses(to: urls, in: source)
      for url in urls {
        for near in misses.urls(near: url) {
          let shown = HostileText.shown(secrets.policy.url(near, for: .people)).string ?? ""
          environment.writeMessage("  there is '\(shown)'\n")
        }
      }
    }

    private func carryOut(
      _ plan: RemovalPlan, _ renderer: RemovalRenderer, _ environment: CommandEnvironment
    ) throws -> ExitStatus {
      // A signal ends the process after the batch that it comes in, and after the receipt.
      let signals = HeldSignals()
      var removal = Removal()
      var done = plan
      do {
        let store = try environment.openStore(
          plan.store.path, cache.waitMilliseconds, !change.noVerify)
        try plan.carryOut(in: store, into: &removal) { signals.haveCome }
      } catch {
        done.leaveOut(removal)
        if !done.entries.isEmpty {
          environment.note("removed before that: \(done.entries.count) entries")
        }
        throw error
      }
      done.leaveOut(removal)
      try write(done, skipped: removal.skipped.count, renderer, environment)
      if removal.orphanedFiles > 0 {
        environment.note("body files that could not be removed: \(removal.orphanedFiles)")
      }
      if removal.visited < plan.entries.count {
        environment.note(
          "stopped by a signal before \(plan.entries.count - removal.visited) entries")
      }
      if !plan.absent.isEmpty { return .no }
      return removal.skipped.isEmpty && removal.orphanedFiles == 0 ? .done : .partly
    }

    private func write(
      _ plan: RemovalPlan, skipped: Int, _ renderer: RemovalRenderer,
      _ environment: CommandEnvironment
    ) throws {
      var output = OutputBuffer(environment)
      switch change.format {
      case .table: renderer.appendText(plan, skipped: skipped, into: &output.text)
      case .json:
        // The database keeps its length.
        renderer.appendJSON(
          plan, skipped: skipped, footprintAfter: plan.footprint.totalBytes - plan.returnedBytes,
          into: &output.text)
      }
      try output.flush()
    }
  }
}
