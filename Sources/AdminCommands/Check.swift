import Administration
import ArgumentParser
import Files
import Rendering
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin check`: everything that is wrong with a cache, and its repair.
  struct Check: AdminCommand {
    static let configuration = CommandConfiguration(
      commandName: "check",
      abstract: "Look for everything that is wrong with a cache, and repair it if asked to.",
      discussion: """
        A finding is an error (the cache breaks its own rules), a warning (somebody
        should look), or a note (worth knowing). Nothing is changed without '--repair',
        which removes

          rows         entries that lack a row in one of the tables
          bodies       entries whose body file is missing
          undecodable  entries whose property lists cannot be decoded
          orphans      body files that no entry names, and of a Foundation store what
                       was being written; beside a running app, and in a folder of
                       Foundation's, what is older than ten minutes

        and then looks again. The table shows a few findings of each kind, JSON all.

        EXIT STATUS
          0 no errors or warnings, or none left after a repair; notes do not count
          1 errors or warnings, or '--max-delete' · 3 what was to go had changed, and
          stayed · 64 · 65 · 66 · 74 · 75 · 77 · 130 · 143
        """)

    @Flag(help: "Also compare the indexes of the database with its tables, which takes longer.")
    var full = false

    @Option(
      defaultAsFlag: RepairKinds.all, parsing: .next,
      help: ArgumentHelp("Remove what is broken, or only some kinds of it.", valueName: "kind,…"))
    var repair: RepairKinds?

    @OptionGroup(title: "Cache") var cache: CacheOptions
    @OptionGroup var change: ChangeOptions
    @OptionGroup var planning: PlanOptions
    @OptionGroup var secrets: SecretOptions

    var writesJSON: Bool { change.format == .json }

    func validate() throws {
      let isForChanges =
        change.dryRun || change.yes || change.maxDelete != nil || planning.isUsed
      guard repair != nil || !isForChanges else {
        throw ValidationError(
          "'--dry-run', '--yes', '--max-delete', '--plan' and '--backup' need '--repair', without which nothing is changed."
        )
      }
      guard planning.plan != "-" else {
        throw ValidationError("The output has the findings: '--plan' needs a file.")
      }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      let now = cache.now(in: environment)
      var output = OutputBuffer(environment)
      var renderer = CheckRenderer(change.format == .json ? .json : .text, secrets: secrets.policy)
      renderer.begin(into: &output.text)
      let open = {
        try repair == nil ? cache.open(in: environment) : cache.openForPlanning(in: environment)
      }
      let check = try check(at: now, in: environment, opening: open) { finding in
        renderer.append(finding, into: &output.text)
        try output.flushIfLarge()
      }
      renderer.finishFindings(check, into: &output.text)
      guard repair != nil else {
        renderer.finish(repair: nil, left: nil, into: &output.text)
        try output.flush()
        return check.isClean ? .done : .no
      }
      return try repair(check, at: now, renderer, &output, environment)
    }

    /// Checks the cache, which is not open afterwards.
    ///
    /// - Parameter open: Opens the cache.
    func check(
      at now: Timestamp, in environment: CommandEnvironment,
      opening open: () throws -> any ResponseSource, _ report: (Finding) throws -> Void
    ) throws -> StoreCheck {
      let options = StoreCheck.Options(
        fully: full, repairs: repair?.kinds ?? [], now: now, clock: environment.now)
      var check = try checkOnce(open, options, report)
      if !check.suspects.isEmpty {
        // An app may store the row first, and then the file.
        CurrentProcess.sleep(milliseconds: 200)
        let source = try environment.openSource(
          check.plan.store.path, cache.waitMilliseconds, now)
        try check.confirm(in: source, report)
        try source.finish()
      }
      return check
    }

    private func checkOnce(
      _ open: () throws -> any ResponseSource, _ options: StoreCheck.Options,
      _ report: (Finding) throws -> Void
    ) throws -> StoreCheck {
      let source = try open()
      let check = try StoreCheck(of: source, options, report)
      try source.finish()
      return check
    }
  }
}

/// What `--repair` is to remove, as the command line gives it.
struct RepairKinds: ExpressibleByArgument, CustomStringConvertible {
  /// The kinds.
  let kinds: Set<Finding.Repair>

  /// Everything that can be repaired.
  static let all = Self(kinds: Set(Finding.Repair.allCases))

  private init(kinds: Set<Finding.Repair>) {
    self.kinds = kinds
  }

  init?(argument: String) {
    let names = argument.split(separator: ",", omittingEmptySubsequences: false)
    let kinds = names.compactMap { Finding.Repair(rawValue: String($0)) }
    guard kinds.count == names.count else { return nil }
    self.kinds = Set(kinds)
  }

  var description: String { kinds == Self.all.kinds ? "all" : "some" }

  static let allValueStrings = Finding.Repair.allCases.map(\.rawValue)
}
