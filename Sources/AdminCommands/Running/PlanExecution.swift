import Administration
import Bytes
import Files
import Rendering
import ResponseStorage

/// Executes confirmed plans.
struct PlanExecution {
  let cache: CacheOptions
  let change: ChangeOptions
  let environment: CommandEnvironment

  /// The sidecars to remove with the entries, and their folder.
  var sidecars: (plan: SidecarPlan, folder: SidecarFolder)?

  /// Overwrites what is removed; `nil` if that was not requested.
  var secure: SecureRemoval?

  /// Removes the entries and files of a plan.
  ///
  /// The cache is closed on return, because only then SQLite deletes the log. No database file may be opened next to
  /// SQLite either: closing it would drop SQLite's locks.
  ///
  /// - Parameters:
  ///   - shrinking: Whether to compact the database afterwards.
  ///   - verifying: Whether to check the database first, unless the user disabled that.
  ///   - stopReason: Called between batches; returns why to stop, or `nil`.
  func carryOut(
    _ plan: RemovalPlan, shrinking: Bool = false, verifying: Bool = true,
    unless stopReason: () -> StopReason?
  ) -> RemovalReceipt {
    func shouldStop() -> Bool { stopReason() != nil }
    var removal = Removal()
    var failure: (any Error)?
    do {
      let store = try open(plan, verifying: verifying)
      let count = Int64(plan.entries.count + plan.orphans.count)
      try environment.showingProgress("Removing entries", of: count) {
        try plan.carryOut(in: store, into: &removal, unless: shouldStop)
      }
      // In slices, because a rewrite needs as much free space again, and the reason for the limit
      // may be a full disk.
      if shrinking { _ = try environment.compact(store, of: plan.footprint, unless: shouldStop) }
      // Before the store is closed, as SQLite then deletes the log without overwriting it.
      if secure != nil { _ = try store.erase(fully: false) { false } }
    } catch {
      failure = error
    }
    return RemovalReceipt(of: plan, removal, stoppedBy: stopReason(), failure)
  }

  private func open(_ plan: RemovalPlan, verifying: Bool) throws -> any ResponseStore {
    if let secure {
      try secure.collect(plan)
      return try secure.open(plan.store.path)
    }
    return try environment.showingProgress("Checking the database", of: nil) {
      try environment.openStore(
        plan.store.path, cache.waitMilliseconds, verifying && !change.noVerify)
    }
  }

  /// Overwrites what the removed entries left.
  ///
  /// - Throws: What ended it early. The receipt has what was done before.
  func erase(
    after receipt: inout RemovalReceipt, unless shouldStop: () -> Bool
  ) throws {
    guard let secure else { return }
    let store = receipt.plan.store
    if let failure = receipt.failure {
      receipt.erasure = .failed(failure, for: store)
      return
    }
    guard !receipt.plan.isEmpty || environment.mayHaveUnfinishedErasure(store.path) else {
      receipt.erasure = .skipped(for: store, isPlanned: false)
      return
    }
    if receipt.plan.isEmpty { try secure.collectRemains(of: store, receipt.plan.absent) }
    let (erasure, failure) = secure.finish(
      store, linkedFiles: receipt.linkedFiles, unless: shouldStop)
    receipt.erasure = erasure
    if let failure { throw failure }
    let source = try cache.openForPlanning(in: environment, copy: store.path)
    receipt.footprintAfter = try source.footprint().totalBytes
    try source.finish()
  }

  /// Executes a plan, and reports what was removed, even after a failure.
  ///
  /// - Parameter skipped: The number of entries that had changed before and are not in the plan.
  /// - Returns: Whether the whole plan was executed.
  func run(
    _ plan: RemovalPlan, skipped: Int = 0, _ renderer: RemovalRenderer
  ) throws -> Bool {
    // Hold signals, so that one ends the process only after the current batch and the receipt.
    environment.record.holdSignals()
    let signals = HeldSignals()
    // A cache whose entries are already removed, by an interrupted command, can still have traces of them.
    var receipt =
      secure != nil && plan.isEmpty
      ? RemovalReceipt(before: plan) : carryOut(plan) { environment.stopReason(signals) }
    var renderer = renderer
    var failure = receipt.failure
    if let sidecars {
      let error = renderer.carryOut(sidecars.plan, in: sidecars.folder, with: receipt)
      failure = failure ?? error
    }
    receipt.skipped += skipped
    do { try erase(after: &receipt) { environment.stopReason(signals) != nil } } catch {
      failure = failure ?? error
    }
    // What was removed before is gone whatever ended the run, so it is said in any case.
    if let failure, receipt.plan.isEmpty { throw failure }
    renderer.showsFootprint = renderer.showsFootprint || secure != nil
    change.shorten(&renderer, in: environment)
    try receipt.write(by: renderer, as: change.format, in: environment)
    if let failure {
      receipt.noteBeforeFailure(in: environment)
      throw failure
    }
    receipt.reportRemainder(in: environment)
    // Whoever reads the mail of a timer cannot do anything about it.
    if environment.isMessageTerminal, plan.store.inUse, !plan.entries.isEmpty {
      environment.note(
        "the app that has the cache open may keep removed entries in memory until it quits")
    }
    if let erasure = receipt.erasure {
      erasure.suggestNextCommand(for: plan.store.path, in: environment)
    } else if change.format == .table, plan.store.traits.hasDatabase, !receipt.plan.entries.isEmpty
    {
      environment.suggest(
        "reclaim the free space in the database with", ["compact", "-c", plan.store.path])
    }
    return receipt.isComplete && renderer.sidecars?.skipped ?? 0 == 0
  }

  /// Shows what would be removed, and throws if that exceeds the cap.
  func preview(_ plan: RemovalPlan, skipped: Int = 0, _ renderer: RemovalRenderer) throws {
    var receipt = RemovalReceipt(previewing: plan)
    receipt.skipped = skipped
    try receipt.write(by: renderer, as: change.format, in: environment)
    try change.checkLimit(of: plan)
    if change.dryRun, change.format == .table, !plan.isEmpty { environment.suggestRunning() }
  }
}

extension RemovalRenderer {
  /// Changes sidecars after their entries were removed, and records the changes.
  ///
  /// - Returns: The error that ended it early.
  mutating func carryOut(
    _ plan: SidecarPlan, in folder: SidecarFolder, with receipt: RemovalReceipt
  ) -> (any Error)? {
    var changes = SidecarChanges()
    defer { sidecars = changes }
    do throws(FileError) {
      try plan.carryOut(in: folder, with: receipt.plan.entries, into: &changes)
      return nil
    } catch {
      return CommandFailure(error)
    }
  }
}

extension CommandEnvironment {
  /// Whether commands are suggested.
  var suggests: Bool { isMessageTerminal && !isQuiet }

  /// Whether '--quiet' leaves out a receipt: that of work that is done as it was planned.
  func leavesOutReceipt(
    as format: ChangeFormat, isDryRun: Bool, _ isDoneAsPlanned: Bool
  ) -> Bool {
    isQuiet && format == .table && !isDryRun && isDoneAsPlanned
  }

  /// Suggests the next command after a receipt, to people: a log needs no suggestions.
  ///
  /// - Parameter command: The words after `urlcache-admin`.
  func suggest(_ purpose: String, _ command: [String]) {
    guard suggests else { return }
    let words = ["urlcache-admin"] + command.map { ShellText.word(ByteString($0)) }
    hint("\(purpose): \(words.joined(separator: " "))")
  }

  /// Suggests the command that does what a dry run has shown.
  func suggestRunning() {
    guard let words = Self.wordsWithoutDryRun(words), !words.contains("-") else { return }
    suggest("apply these changes with", words)
  }

  /// Returns the words of a command line without `--dry-run`, and with `--yes`; `nil` if that is not possible.
  static func wordsWithoutDryRun(_ words: [String]) -> [String]? {
    let options = words.prefix { $0 != "--" }
    let rest = options.filter { !["-n", "--dry-run"].contains($0) }
    // The option may be written in another way, as '-yn'.
    guard rest.count < options.count else { return nil }
    return wordsWithYes(rest + words.dropFirst(options.count))
  }

  /// Returns the words of a command line with `--yes`.
  static func wordsWithYes(_ words: [String]) -> [String] {
    let options = words.prefix { $0 != "--" }
    let yes = options.contains("-y") || options.contains("--yes") ? [] : ["--yes"]
    return options + yes + words.dropFirst(options.count)
  }
}

extension RemovalReceipt {
  /// Writes the receipt to standard output, and adds it to the record of the run.
  func write(
    by renderer: RemovalRenderer, as format: ChangeFormat, in environment: CommandEnvironment
  ) throws {
    // Metrics count what was removed, and a dry run removes nothing.
    if !renderer.isDryRun {
      environment.record.add(plan)
      environment.record.left = remainder?.count ?? 0
    }
    let isExpected = skipped == 0 && remainder == nil && failure == nil && isComplete
    if environment.leavesOutReceipt(as: format, isDryRun: renderer.isDryRun, isExpected) { return }
    var output = OutputBuffer(environment)
    try renderer.append(self, as: format, into: &output.text, environment.flushIfLarge)
    try output.flush()
  }

  /// Reports what was removed before a failure ended the removal.
  func reportBeforeFailure(in environment: CommandEnvironment) {
    environment.record.add(plan)
    noteBeforeFailure(in: environment)
  }

  /// Says what was removed before a failure ended the command.
  func noteBeforeFailure(in environment: CommandEnvironment) {
    if !plan.entries.isEmpty {
      let entries = QuantityWords.counted(plan.entries.count, "entry", "entries")
      environment.note("removed \(entries) before the error")
    }
    reportFiles(in: environment)
  }

  /// Reports what the written receipt does not contain: what was left.
  func reportRemainder(in environment: CommandEnvironment) {
    reportFiles(in: environment)
    if let remainder {
      environment.note("stopped by \(remainder.reason.words); not removed: \(remainder.words)")
    }
  }

  private func reportFiles(in environment: CommandEnvironment) {
    environment.note(orphanedFiles: orphanedFiles)
    if keptFiles > 0 {
      environment.note(
        "kept body files that another database in the folder refers to, or may refer to: \(QuantityWords.grouped(Int64(keptFiles)))"
      )
    }
    for listing in listings {
      environment.note(
        "'\(printable(listing))' lists entries with URLs and header fields, perhaps also removed ones"
      )
      environment.hint("remove it with: rm \(ShellText.word(ByteString(listing)))")
    }
    if skippedOrphans > 0 {
      environment.note(
        "skipped orphans that changed or were removed meanwhile: \(QuantityWords.grouped(Int64(skippedOrphans)))"
      )
    }
  }
}

extension RemovalRenderer {
  /// Appends a receipt in a format.
  ///
  /// - Parameter flush: Is called after each entry of a document.
  func append(
    _ receipt: RemovalReceipt, as format: ChangeFormat, into buffer: inout TextBuffer,
    _ flush: (inout TextBuffer) throws -> Void
  ) throws {
    switch format {
    case .table: appendText(receipt, into: &buffer)
    case .json: try appendJSON(receipt, into: &buffer, flush)
    }
  }
}

extension StopReason {
  /// The reason in words.
  var words: String {
    switch self {
    case .signal: "a signal"
    case .maxRuntime: "'--max-runtime'"
    }
  }
}

extension CommandEnvironment {
  /// Reports body files that lost their entry but could not be removed.
  func note(orphanedFiles count: Int) {
    if count > 0 { note("could not remove body files: \(QuantityWords.grouped(Int64(count)))") }
  }
}
