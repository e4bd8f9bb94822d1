import Administration
import ArgumentParser
import Files
import Rendering
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin purge`: removes the selected entries.
  struct Purge: ScheduledCommand {
    static let configuration = CommandConfiguration(
      commandName: "purge",
      abstract: "Remove the selected entries, also beside a running app.",
      discussion: """
        Without '--yes' it asks first. An app keeps what it has in memory until it
        ends. In a folder of Foundation's an entry is a file: only regular files go,
        and those that URLCache does not see, such as what a crash left behind, go only
        by their ids.

        EXIT STATUS
          0 done · 1 a named URL or id is not there, or '--max-delete' · 3 entries
          changed meanwhile and stayed, or are no regular files, or '--max-runtime' ·
          64 also without '--yes' and terminal · 65 · 66 · 73 '--backup' · 74 · 75 · 77
          · 130 · 143
        """)

    @OptionGroup(title: "Selection") var selection: SelectionOptions
    @OptionGroup(title: "Cache") var cache: CacheOptions
    @OptionGroup var change: ChangeOptions
    @OptionGroup var planning: PlanOptions
    @OptionGroup var secrets: SecretOptions
    @OptionGroup var schedule: ScheduleOptions

    @Flag(help: "Select all entries.")
    var all = false

    var writesJSON: Bool { change.format == .json }
    var isDryRun: Bool { change.dryRun }

    func validate() throws { try schedule.check(with: planning) }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      let plan = try plan(in: environment)
      if try planning.save(plan, by: "purge", in: environment) {
        return plan.absent.isEmpty ? .done : .no
      }
      let renderer = RemovalRenderer(
        verb: "purge", isDryRun: change.dryRun, secrets: secrets.policy)
      guard try change.allow(plan, renderer, in: environment) else {
        environment.note("nothing was removed")
        return .done
      }
      let execution = PlanExecution(cache: cache, change: change, environment: environment)
      var isComplete = true
      if change.dryRun || plan.entries.isEmpty {
        try execution.preview(plan, renderer)
      } else {
        try planning.backUp(plan, of: cache, in: environment)
        isComplete = try execution.run(plan, renderer)
      }
      if plan.kept[.notARegularFile] != nil { isComplete = false }
      return plan.absent.isEmpty ? isComplete ? .done : .partly : .no
    }

    /// Makes the plan, and tells the user what could not be selected.
    private func plan(in environment: CommandEnvironment) throws -> RemovalPlan {
      let source = try cache.openForPlanning(in: environment)
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
      // People are not shown how much stays.
      let plan = try RemovalPlan(
        removing: selection, from: source, now: now,
        measuringRest: writesJSON || planning.plan != nil)
      environment.note(leftBy: plan, "not selected")
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
  }
}
