import Administration
import ArgumentParser
import Bytes
import Files
import Rendering
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin compact`: frees unused space in a database.
  struct Compact: ScheduledCommand, AllCachesCommand, CacheOperandCommand, RecordedCommand {
    static let configuration = CommandConfiguration(
      commandName: "compact",
      abstract: "Reclaim free space in the database.",
      usage: "urlcache-admin compact [<options>] [<cache>]",
      discussion: """
        Removing entries leaves free pages in the database. While an app is running,
        they are reclaimed in small steps that do not block the app; otherwise,
        'compact' uses the fastest method and also removes the write-ahead log.
        Entries are not changed. A Foundation cache has no database, so there is
        nothing to reclaim.

        '--secure' overwrites what removed entries left behind: it removes orphans,
        rewrites the database, empties its log, and then searches all files for
        everything that 'recover' could find at the start. See 'purge' for what it
        cannot reach.
        """)

    @OptionGroup var operands: CacheOperand
    @OptionGroup(title: "Cache") var cache: CacheOptions
    @OptionGroup(title: "Cache") var scope: ScopeOptions
    @OptionGroup(title: "Output") var terminal: TerminalOptions

    @Flag(name: [.customShort("n"), .long], help: "Only show how much space is free.")
    var dryRun = false

    @Flag(
      name: [.customShort("y"), .long],
      help: "Accepted for consistency; 'compact' never asks for confirmation.")
    var yes = false

    @Flag(help: "Rewrite the database (VACUUM) even if smaller steps would do.")
    var full = false

    @OptionGroup var securing: SecureOptions

    @Option(
      help: ArgumentHelp(
        "Do nothing unless at least this percentage of the database can be reclaimed.",
        valueName: "percent"),
      transform: parsePercent)
    var threshold: Double = 0

    @Flag(help: "Skip the SQLite check of the database before changing it.")
    var noVerify = false

    @OptionGroup var formats: FormatOptions<ChangeFormat>

    @OptionGroup var recording: RecordOptions
    @OptionGroup var schedule: ScheduleOptions

    var format: ChangeFormat { formats.format }
    var writesJSON: Bool { format == .json }
    var isDryRun: Bool { dryRun }
    var isConfirmed: Bool { yes }

    mutating func fill(from settings: CacheSettings) {
      cache.fill(from: settings)
      recording.log = recording.log ?? settings.log
      securing.fill(from: settings)
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      if !dryRun {
        environment.finishIntents(
          at: try cache.path(in: environment), waiting: cache.waitMilliseconds)
      }
      let (store, before) = try measured(in: environment)
      if securing.isOn { return try runSecurely(on: store, before, in: environment) }
      var compaction = Compaction(store: store, before: before)
      if dryRun {
        try write(compaction, environment)
        return .done
      }
      // Hold signals, so that one ends the process only after the current slice and the receipt.
      environment.record.holdSignals()
      let signals = HeldSignals()
      compaction.method = CompactionMethod.none
      // An explicit `--full` goes before the threshold, which is usually set in a configuration.
      let isWanted = full || compaction.isWorthwhile(above: threshold)
      if isWanted {
        let editor = try environment.showingProgress("Checking the database", of: nil) {
          try environment.openStore(store.path, cache.waitMilliseconds, !noVerify)
        }
        compaction.method = try environment.compact(editor, of: before, fully: full) {
          environment.stopReason(signals) != nil
        }
      }
      // In a new reading: only the closed database has its final size.
      let after = try measured(in: environment).footprint
      compaction.after = after
      // A signal that came after the last page was given back has stopped nothing.
      let isDone = compaction.method == CompactionMethod.none ? !isWanted : after.freeBytes == 0
      compaction.stopReason = isDone ? nil : environment.stopReason(signals)
      try write(compaction, environment)
      // What was given back so far stays given back, and the next run goes on from there.
      guard let reason = compaction.stopReason else { return .done }
      environment.note("stopped by \(reason.words)")
      return .partly
    }

    /// Returns the sizes of the cache, and closes it.
    func measured(
      in environment: CommandEnvironment
    ) throws -> (store: StoreDescription, footprint: Footprint) {
      let source = try cache.openForPlanning(in: environment)
      let footprint = try source.footprint()
      try source.finish()
      return (source.description, footprint)
    }

    func write(_ compaction: Compaction, _ environment: CommandEnvironment) throws {
      let isDone = compaction.stopReason == nil && compaction.erasure?.isComplete ?? true
      if environment.leavesOutReceipt(as: format, isDryRun: dryRun, isDone) { return }
      var output = OutputBuffer(environment)
      switch format {
      case .table: CompactionRenderer.appendText(compaction, into: &output.text)
      case .json: CompactionRenderer.appendJSON(compaction, into: &output.text)
      }
      try output.flush()
    }
  }
}

extension URLCacheAdmin.Compact {
  /// Overwrites what removed entries left in the files of a cache, and verifies that.
  func runSecurely(
    on store: StoreDescription, _ before: Footprint, in environment: CommandEnvironment
  ) throws -> ExitStatus {
    var compaction = Compaction(store: store, before: before)
    let survey = try survey(in: environment)
    compaction.orphans = survey.files.count
    guard !dryRun else {
      compaction.erasure = .planned(for: store)
      try write(compaction, environment)
      return .done
    }
    // Hold signals, so that one ends the process only after the receipt.
    environment.record.holdSignals()
    let signals = HeldSignals()
    func shouldStop() -> Bool { environment.stopReason(signals) != nil }
    let secure = SecureRemoval(
      waiting: cache.waitMilliseconds, skippingCheck: noVerify, in: environment)
    try secure.collectRemains(of: store)
    var removal = Removal()
    var failure: (any Error)?
    do {
      try secure.remove(survey, from: store.path, into: &removal, unless: shouldStop)
    } catch {
      failure = error
    }
    compaction.orphans =
      removal.visitedOrphans - removal.skippedOrphans.count - removal.orphanedFiles
    if let failure, compaction.orphans == 0 { throw failure }
    var erasure: ErasureReceipt
    if let failure {
      erasure = .failed(failure, for: store)
    } else {
      (erasure, failure) = secure.finish(
        store, linkedFiles: removal.linkedFiles, unless: shouldStop)
    }
    erasure.keptOrphans = survey.young.files + survey.undecided.files
    compaction.method =
      erasure.isErased ? .rewrite : erasure.inUse ? .slices : CompactionMethod.none
    if !store.traits.hasDatabase { compaction.method = CompactionMethod.none }
    compaction.erasure = erasure
    // After a failure, too, what was removed is said.
    do { compaction.after = try measured(in: environment).footprint } catch {
      failure = failure ?? error
    }
    compaction.stopReason = erasure.isStopped ? environment.stopReason(signals) : nil
    try write(compaction, environment)
    if let failure { throw failure }
    if let reason = compaction.stopReason { environment.note("stopped by \(reason.words)") }
    environment.note(orphanedFiles: removal.orphanedFiles)
    erasure.suggestNextCommand(for: store.path, in: environment)
    return erasure.isComplete && removal.orphanedFiles == 0 ? .done : .partly
  }

  /// Returns the files to which no entry refers, and closes the cache.
  private func survey(in environment: CommandEnvironment) throws -> OrphanSurvey {
    let source = try cache.openForPlanning(in: environment)
    let survey = try source.orphans(at: environment.now)
    try source.finish()
    return survey
  }
}
