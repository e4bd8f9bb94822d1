import Administration
import ArgumentParser
import Bytes
import Files
import Rendering
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin check`: checks a cache, and repairs it.
  struct Check: AllCachesCommand, CacheOperandCommand, RecordedCommand {
    static let configuration = CommandConfiguration(
      commandName: "check",
      abstract: "Check a cache for problems, and repair them on request.",
      discussion: """
        A finding is an error (the cache is inconsistent), a warning (worth a look),
        or a note (harmless). Only '--repair' changes the cache. It removes

          rows         entries that lack a row in one of the tables
          bodies       entries whose body file is missing
          undecodable  entries whose property lists cannot be decoded
          orphans      body files that no entry refers to; in a Foundation cache,
                       files that Foundation ignores. Only files older than ten
                       minutes
          sidecars     with '--sidecars': sidecar files without an entry, if they
                       are older than ten minutes; missing sidecar files are written

        and then checks again. The table shows a few findings of each kind; JSON shows
        all of them.

        Entries that a configured rule marks 'never' or 'memory-only' are reported as
        warnings.

        '--offline-set' lists the URLs that an app could not load offline: those
        without an entry, with a damaged entry, or with a stale one.
        """)

    @Flag(help: "Also compare the indexes of the database with its tables (slower).")
    var full = false

    @Option(
      defaultAsFlag: RepairKinds.all, parsing: .next,
      help: ArgumentHelp("Repair everything, or only these kinds.", valueName: "kind,…"))
    var repair: RepairKinds?

    @Option(
      help: ArgumentHelp(
        "Only check whether each URL in this file (one per line) has a usable entry; '-' is"
          + " standard input.", valueName: "file"),
      completion: .file())
    var offlineSet: String?

    @OptionGroup var sidecars: SidecarOptions

    @Option(
      help: ArgumentHelp(
        "How the app names its sidecar files: by a hexadecimal digest of the URL, or by the"
          + " NSString hash of the URL. Needed only if 'check' does not recognize the names.",
        valueName: "naming"))
    var sidecarNames: SidecarNaming?

    @OptionGroup var operands: CacheOperand
    @OptionGroup(title: "Cache") var cache: CacheOptions
    @OptionGroup(title: "Cache") var scope: ScopeOptions
    @OptionGroup(title: "Changes") var change: ChangeOptions
    @OptionGroup(title: "Changes") var planning: PlanOptions
    @OptionGroup(title: "Changes") var securing: SecureOptions
    @OptionGroup(title: "Output") var secrets: SecretOptions
    @OptionGroup(title: "Output") var terminal: TerminalOptions

    var writesJSON: Bool { change.format == .json }
    var isDryRun: Bool { change.dryRun }
    var isConfirmed: Bool { change.yes }
    var onlyLooks: Bool { repair == nil || isDryRun }
    var recording: RecordOptions { change.recording }
    var newFiles: [NewFileOption] { planning.newFiles }
    var outputPurpose: OutputPurpose {
      repair == nil || isDryRun || planning.plan != nil ? .answer : .receipt
    }

    mutating func fill(from settings: CacheSettings) {
      cache.fill(from: settings)
      let log = change.recording.log
      change.fill(from: settings)
      securing.fill(from: settings)
      // The configured log is for what changes something.
      if repair == nil { change.recording.log = log }
    }

    mutating func takeOperands(in environment: CommandEnvironment) throws {
      if let path = repair?.cachePath {
        if let other = cache.cache ?? operands.first {
          throw CommandFailure.usage(
            "there are two caches, '\(printable(other))' and '\(printable(path))'",
            hint: "name one cache, as the first operand or with '-c'")
        }
        cache.cache = path
        repair = .all
        // All kinds of repair exclude more options than none.
        try validate()
      }
      try takeCacheOperand(in: environment)
    }

    func validate() throws {
      if let word = repair?.unknown.first, repair?.cachePath == nil {
        throw ValidationError(
          "'\(printable(word))' is not a kind of repair. Use one of: "
            + RepairKinds.allValueStrings.joined(separator: ", ") + ".")
      }
      try sidecars.check(with: scope)
      guard sidecarNames == nil || sidecars.sidecars != nil else {
        throw ValidationError("'--sidecar-names' needs '--sidecars'.")
      }
      guard sidecars.sidecars != nil || !(repair?.namesSidecars ?? false) else {
        throw ValidationError("'--repair=sidecars' needs '--sidecars DIR'.")
      }
      guard planning.plan == nil || !repairs.contains(.sidecars) else {
        throw ValidationError("'--plan' and '--sidecars' cannot be combined.")
      }
      let isForChanges =
        change.dryRun || change.yes || change.maxDelete != nil || planning.isUsed
      guard repair != nil || !isForChanges else {
        throw ValidationError(
          "'--dry-run', '--yes', '--max-delete', '--plan' and '--backup' need '--repair'."
        )
      }
      guard offlineSet == nil || sidecars.sidecars == nil else {
        throw ValidationError("'--offline-set' and '--sidecars' cannot be combined.")
      }
      guard offlineSet == nil || repair == nil && !full else {
        throw ValidationError(
          "'--offline-set' cannot be combined with '--repair' or '--full'.")
      }
      guard !securing.isOn || repair != nil else {
        throw ValidationError("'--secure' is only for '--repair'.")
      }
      // Findings and a plan in one stream could be read by nobody.
      guard planning.plan != "-" else {
        throw ValidationError("'--plan' needs a file, because the findings go to standard output.")
      }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      if repair != nil, planning.plan == nil {
        // Otherwise the files of an interrupted command would be reported as orphans, although they
        // are about to be removed.
        try change.finishIntents(of: cache, in: environment)
      }
      let now = cache.now(in: environment)
      var output = OutputBuffer(environment)
      var renderer = CheckRenderer(change.format == .json ? .json : .text, secrets: secrets.policy)
      renderer.begin(into: &output.text)
      // A repair rejects a cache that cannot be changed before it reports findings.
      let open = {
        try repair == nil ? cache.open(in: environment) : cache.openForPlanning(in: environment)
      }
      let check = try check(at: now, in: environment, opening: open) { finding in
        renderer.append(finding, into: &output.text)
        try output.flushIfLarge()
      }
      renderer.finishFindings(check, into: &output.text)
      guard repair != nil else {
        try renderer.finish(repair: nil, left: nil, into: &output.text)
        try output.flush()
        hint(at: check, in: environment)
        return check.isClean ? .done : .no
      }
      return try repair(check, at: now, renderer, &output, environment)
    }

    /// The requested kinds of repair that apply.
    private var repairs: Set<Finding.Repair> {
      let kinds = repair?.kinds ?? []
      return sidecars.sidecars == nil ? kinds.subtracting([.sidecars]) : kinds
    }

    /// Shows the command that repairs the findings.
    func hint(at check: StoreCheck, in environment: CommandEnvironment) {
      // JSON says of each finding whether it can be repaired, and a command line in it would be for
      // people.
      guard change.format == .table else { return }
      if let command = RepairHint.recovery(for: check) {
        environment.hint("recover what is still readable with: \(command)")
      }
      guard
        let command = RepairHint.command(for: check, naming: sidecarNames)
      else {
        return
      }
      environment.hint("repair what can be repaired with: \(command)")
    }

    /// Checks the cache, and closes it.
    ///
    /// - Parameter open: Opens the cache.
    func check(
      at now: Timestamp, in environment: CommandEnvironment,
      opening open: () throws -> any ResponseSource, _ report: (Finding) throws -> Void
    ) throws -> StoreCheck {
      let options = StoreCheck.Options(
        fully: full, repairs: repairs, now: now, clock: environment.now,
        rules: cache.rules(at: now, in: environment))
      if let offlineSet {
        let source = try open()
        let check = try StoreCheck(
          offlineSet: offlineURLs(in: offlineSet, environment), of: source, options, report)
        try source.finish()
        return check
      }
      var check = try checkOnce(open, options, environment, report)
      if !check.suspects.isEmpty {
        // An app may store the row first and the body file a moment later, so wait before looking again.
        environment.pause(200)
        let source = try environment.openSource(
          check.plan.store.path, cache.waitMilliseconds, now
        ).source
        try check.confirm(in: source, report)
        try checkSidecars(&check, source, report)
        try source.finish()
      }
      return check
    }

    /// Reads the URLs in a file; a file without URLs is an error.
    private func offlineURLs(
      in file: String, _ environment: CommandEnvironment
    ) throws -> [ByteString] {
      let urls = try SelectionOptions.urls(in: file, environment)
      guard !urls.isEmpty else {
        throw CommandFailure.usage(
          "the list given with '--offline-set' is empty", hint: "write one URL per line")
      }
      return urls
    }

    private func checkOnce(
      _ open: () throws -> any ResponseSource, _ options: StoreCheck.Options,
      _ environment: CommandEnvironment, _ report: (Finding) throws -> Void
    ) throws -> StoreCheck {
      let source = try open()
      var check = try environment.showingProgress("Checking entries", over: source) {
        try StoreCheck(of: source, options, report)
      }
      // Sidecars are compared once all removals of entries are planned.
      if check.suspects.isEmpty { try checkSidecars(&check, source, report) }
      try source.finish()
      return check
    }

    private func checkSidecars(
      _ check: inout StoreCheck, _ source: any ResponseSource, _ report: (Finding) throws -> Void
    ) throws {
      guard let folder = try sidecars.open() else { return }
      try check.checkSidecars(of: folder, with: source, naming: sidecarNames, report)
    }
  }
}

/// The value of `--repair`.
struct RepairKinds: ExpressibleByArgument, CustomStringConvertible {
  /// The kinds.
  let kinds: Set<Finding.Repair>

  /// All kinds of repair.
  static let all = Self(kinds: Set(Finding.Repair.allCases))

  /// The words that name no kind. They must not fail the parsing: ArgumentParser would then read the option as a flag,
  /// which removes all kinds.
  let unknown: [String]

  /// Whether sidecars are named, not just included in all kinds.
  let namesSidecars: Bool

  /// The path of a cache that was given instead of kinds, as in `check --repair Cache.db`.
  let cachePath: String?

  private init(kinds: Set<Finding.Repair>) {
    self.kinds = kinds
    namesSidecars = false
    unknown = []
    cachePath = nil
  }

  init(argument: String) {
    let names = argument.utf8.split(
      separator: UInt8(ascii: ","), omittingEmptySubsequences: false
    ).map { String(decoding: Array($0), as: UTF8.self) }
    kinds = Set(names.compactMap { Finding.Repair(rawValue: $0) })
    namesSidecars = kinds.contains(.sidecars)
    unknown = names.filter { Finding.Repair(rawValue: $0) == nil }
    cachePath = !unknown.isEmpty && (try? FileStatus.of(argument)) != nil ? argument : nil
  }

  var description: String { kinds == Self.all.kinds ? "all" : "some" }

  static let allValueStrings = Finding.Repair.allCases.map(\.rawValue)
}

extension URLCacheAdmin.Check {
  /// Executes the repair plan of a check, if the user confirms it, and reports the result.
  func repair(
    _ check: StoreCheck, at now: Timestamp, _ renderer: CheckRenderer,
    _ output: inout OutputBuffer, _ environment: CommandEnvironment
  ) throws -> ExitStatus {
    var removals = RemovalRenderer(
      verb: "repair", isDryRun: change.dryRun, secrets: secrets.policy)
    removals.listsOrphans = true
    securing.prepare(&removals, for: check.plan, in: environment)
    removals.sidecars = sidecars.sidecars == nil ? nil : check.sidecars?.plan.preview
    let isAllowed: Bool
    do {
      // Show the findings before asking about them.
      if change.format == .table { try output.flush() }
      // What `quick_check` has found ends the repair later, too, so there is nothing to ask.
      if check.isDamaged, !full, !change.noVerify {
        var failure = CommandFailure(StoreError(.damaged, at: check.plan.store.path))
        failure.message += "; nothing was repaired"
        throw failure
      }
      let isSaved = try planning.save(
        check.plan, by: "repair", secure: securing.isOn, in: environment)
      isAllowed = try !isSaved && change.allow(check.plan, removals, in: environment)
      if !isSaved, !isAllowed { environment.note("nothing was removed") }
    } catch {
      try renderer.finish(repair: nil, left: nil, into: &output.text)
      try output.flush()
      throw error
    }
    let isEmpty = check.plan.isEmpty && check.sidecars?.plan.isEmpty ?? true
    guard isAllowed, !change.dryRun, !isEmpty || securing.isOn else {
      let receipt = RemovalReceipt(previewing: check.plan)
      try renderer.finish(
        repair: isAllowed
          ? {
            try removals.append(
              receipt, as: change.format, into: &$0, environment.flushIfLarge)
          } : nil,
        left: nil, into: &output.text)
      try output.flush()
      // A dry run shows the plan first, since a user who is over the cap wants to know by what.
      if isAllowed { try change.checkLimit(of: check.plan) }
      return check.isClean ? .done : .no
    }
    // Before the first removal, and only after the confirmation: a backup of a refused repair would
    // be left over.
    try planning.backUp(check.plan, of: cache, in: environment)
    return try carryOut(check, at: now, renderer, removals, &output, environment)
  }

  private func carryOut(
    _ check: StoreCheck, at now: Timestamp, _ renderer: CheckRenderer,
    _ removals: RemovalRenderer, _ output: inout OutputBuffer, _ environment: CommandEnvironment
  ) throws -> ExitStatus {
    // Hold signals, so that one ends the process only after the current batch and the receipt.
    environment.record.holdSignals()
    let signals = HeldSignals()
    let plan = check.plan
    var removals = removals
    // No sidecars are changed yet.
    removals.sidecars = removals.sidecars.map { _ in SidecarChanges() }
    var execution = PlanExecution(cache: cache, change: change, environment: environment)
    execution.secure = securing.removal(
      of: cache, by: change, backup: check.plan.entries.isEmpty ? nil : planning.backup,
      in: environment)
    var receipt =
      plan.isEmpty
      ? RemovalReceipt(before: plan)
      : execution.carryOut(plan) { environment.stopReason(signals) }
    environment.record.add(receipt.plan)
    environment.record.left = receipt.remainder?.count ?? 0
    var failure = receipt.failure
    do { try execution.erase(after: &receipt) { environment.stopReason(signals) != nil } } catch {
      failure = failure ?? error
    }
    let open = {
      try environment.openSource(plan.store.path, cache.waitMilliseconds, now).source
    }
    // Change sidecars last, because it depends on which entries were removed.
    if let sidecars = check.sidecars, failure == nil, !signals.haveCome {
      do {
        var sidecarPlan = sidecars.plan
        var changed = 0
        if sidecarPlan.makesFiles {
          // An entry may have changed while the question was open, and a new sidecar must match its entry. Pass the
          // naming, because the sidecars that revealed it may be removed by now.
          var command = self
          command.sidecarNames = sidecarPlan.naming
          let current = try command.check(at: now, in: environment, opening: open) { _ in }
          changed = sidecarPlan.dropAdditions(missingIn: current.sidecars?.plan ?? SidecarPlan())
        }
        failure = removals.carryOut(sidecarPlan, in: sidecars.folder, with: receipt)
        removals.sidecars?.skipped += changed
      } catch { failure = error }
    }
    // The exit status depends on what is left, so check again.
    var left: StoreCheck?
    if failure == nil, !signals.haveCome {
      do { left = try self.check(at: now, in: environment, opening: open) { _ in } } catch {
        failure = error
      }
    }
    try renderer.finish(
      repair: { [removals, receipt] in
        try removals.append(receipt, as: change.format, into: &$0, environment.flushIfLarge)
      },
      left: left,
      into: &output.text)
    try output.flush()
    if let failure {
      receipt.noteBeforeFailure(in: environment)
      throw failure
    }
    receipt.reportRemainder(in: environment)
    if let left { hint(at: left, in: environment) }
    receipt.erasure?.suggestNextCommand(for: plan.store.path, in: environment)
    // By what is left and not by what was done: a repair that succeeded can leave findings that no
    // repair mends.
    guard left?.isClean ?? false else { return .no }
    return receipt.isComplete && removals.sidecars?.skipped ?? 0 == 0 ? .done : .partly
  }
}
