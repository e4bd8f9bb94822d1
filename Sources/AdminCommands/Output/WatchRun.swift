import Administration
import Bytes
import Files
import Rendering
import ResponseStorage
import Watching

/// A watch of one cache, from the first look to the summary.
struct WatchRun {
  /// How the cache is watched.
  struct Settings {
    /// The path of the cache.
    let path: String
    /// Whether there are lines for people and not JSON.
    let isTable: Bool
    let secrets: SecretPolicy
    let expiryRules: [UserInfoExpiry.Rule]
    /// The time that ages are relative to; `nil` for the present one.
    let fixedTime: Timestamp?
    /// When to end, in milliseconds; `nil` for never.
    let milliseconds: Int64?
    /// Whether to wait for a cache that does not exist yet.
    let waitsForCache: Bool
    /// Whether a terminal shows the state in its last line.
    let hasStatusLine: Bool
  }

  /// How long to wait between two checks, in milliseconds: while nothing changes, and soon after a change.
  private static let (pause, shortPause) = (100 as Int64, 30 as Int64)
  /// How long after a change the next one is likely, in milliseconds.
  private static let busyTime: Int64 = 2_000
  /// How many times as long as a look at all entries to wait after it, so that large caches cost little.
  private static let restFactor: Int64 = 9

  private var watch: CacheWatch
  private let observer: StoreObserver
  private let settings: Settings
  private let environment: CommandEnvironment
  private let output: WatchOutput
  /// What the cache was like at the last look; `nil` if there is none.
  private var mark: StoreMark?
  /// Whether there are changes that no look has seen.
  private var isPending = false
  /// When all entries may be looked at again, in milliseconds since the beginning.
  private var nextLook: Int64 = 0
  private var looks: Int64 = 0
  private var transactions: Int64? = 0
  /// What the system had reported at the first look.
  private var firstArrivals: Int64?

  init(
    _ watch: CacheWatch, of observer: StoreObserver, _ settings: Settings,
    in environment: CommandEnvironment
  ) {
    (self.watch, self.observer, self.settings) = (watch, observer, settings)
    self.environment = environment
    output = WatchOutput(settings, in: environment)
  }

  /// Watches until something ends it.
  ///
  /// - Returns: Why it ended.
  mutating func run(_ signals: borrowing HeldSignals) throws -> WatchSummary.Reason {
    let output = output
    defer { output.removeLine() }
    var reason = try begin(signals)
    while reason == nil {
      observer.wait(milliseconds: Int(untilNextCheck))
      reason = signals.haveCome ? .signal : isTimeOver ? .time : nil
      try check(isLast: reason != nil)
      if output.hasComeTrue { reason = .awaited }
      if environment.hasNoReader() { throw FileError.withoutReader(at: "standard output") }
      output.draw(watch.tally)
    }
    let end = reason ?? .time
    try output.finish(
      WatchSummary(
        reason: end, tally: watch.tally, entries: watch.entryCount, transactions: transactions,
        looks: looks, milliseconds: output.elapsed))
    return end
  }

  private var isTimeOver: Bool { settings.milliseconds.map { output.elapsed >= $0 } ?? false }

  /// How long to wait before the next check, in milliseconds.
  private var untilNextCheck: Int64 {
    let elapsed = output.elapsed
    let isBusy = output.lastChange.map { elapsed < $0 + Self.busyTime } ?? false
    var pause = isBusy ? Self.shortPause : Self.pause
    if isPending { pause = min(pause, max(10, nextLook - elapsed)) }
    if let end = settings.milliseconds { pause = min(pause, max(0, end - elapsed)) }
    return pause
  }

  /// Takes the first look, if need be after waiting for the cache.
  ///
  /// - Returns: Why the watch ends already, or `nil`.
  private mutating func begin(_ signals: borrowing HeldSignals) throws -> WatchSummary.Reason? {
    var hasWaited = false
    while true {
      var mark: StoreMark?
      do {
        mark = try observer.mark()
        let source = try observer.open(at: output.moment.evaluation)
        if hasWaited {
          watch.beginWithNothing()
          isPending = true
        } else {
          try watch.begin(at: source, now: output.moment.evaluation)
        }
        try source.finish()
        self.mark = mark
        firstArrivals = observer.arrivals
        // A Foundation cache has no transactions. The index of a log appears with the app.
        if !source.description.traits.hasDatabase { transactions = nil }
        try output.begin(with: source.description, entries: watch.entryCount)
        return nil
      } catch let error as StoreError {
        try requireWaiting(for: cause(of: error, since: mark), &hasWaited)
        if isTimeOver { throw error }
      }
      if signals.haveCome { return .signal }
      observer.wait(milliseconds: Int(Self.pause))
    }
  }

  /// Throws an error that waiting does not help against, and reports that there is no cache yet.
  private func requireWaiting(for error: StoreError, _ hasWaited: inout Bool) throws {
    switch error.code {
    case .changedWhileReading, .inUse: return
    case .notFound, .notACache:
      guard settings.waitsForCache else {
        var failure = CommandFailure(error, cacheNames: environment.configuration.cacheNames)
        if error.code == .notFound {
          failure.hint = "start the app first, or wait for its cache with '--retry'"
        }
        throw failure
      }
      observer.forget()
      if !hasWaited { environment.inform("waiting for a cache: \(printable("\(error)"))\n") }
      hasWaited = true
    default: throw error
    }
  }

  /// Looks at the cache if it may have changed.
  ///
  /// - Parameter isLast: Whether to look at all entries, even if that was done just now.
  private mutating func check(isLast: Bool) throws {
    guard output.hasBegun else { return }
    var latest: StoreMark?
    do {
      let present = try observer.mark()
      latest = present
      guard let earlier = mark else { return try comeBack(present) }
      guard present.mayDiffer(from: earlier) || isPending else { return }
      count(present, since: earlier)
      mark = present
      isPending = true
      try look(isLast: isLast)
    } catch let error as StoreError {
      switch cause(of: error, since: latest).code {
      // The next check tries again.
      case .changedWhileReading, .inUse: isPending = true
      case .notFound, .notACache: try leave()
      default: throw error
      }
    }
  }

  /// Returns the error that explains why a cache could not be read.
  ///
  /// If its files are removed or replaced meanwhile, reading can fail in any way.
  ///
  /// - Parameter mark: The mark from before; `nil` if even that failed.
  private func cause(of error: StoreError, since mark: StoreMark?) -> StoreError {
    switch error.code {
    case .changedWhileReading, .inUse, .notFound, .notACache: return error
    default: break
    }
    do throws(StoreError) {
      let present = try observer.mark()
      if let mark, present.identity == mark.identity { return error }
      return StoreError(.changedWhileReading, at: error.path)
    } catch let absence {
      return absence
    }
  }

  private mutating func count(_ present: StoreMark, since earlier: StoreMark) {
    if present.identity != earlier.identity { watch.restart() }
    guard present.mayDiffer(from: earlier) else { return }
    guard let count = present.transactions(since: earlier) else { return transactions = nil }
    transactions = transactions.map { $0 + count }
  }

  private mutating func look(isLast: Bool) throws {
    let begin = output.elapsed
    let (now, report) = (output.moment.evaluation, output.report as (EntryChange) throws -> Void)
    let source = try observer.open(at: now)
    if begin < nextLook, !isLast {
      _ = try watch.lookAtNewIDs(of: source, now: now, report)
    } else {
      try watch.look(at: source, now: now, report)
      looks += 1
      isPending = false
      nextLook = output.elapsed + (output.elapsed - begin) * Self.restFactor
      if let firstArrivals, let arrivals = observer.arrivals {
        watch.noteArrivals(arrivals - firstArrivals)
      }
    }
    try source.finish()
    try output.flush()
  }

  /// Reports that the cache does not exist any more.
  private mutating func leave() throws {
    guard mark != nil else { return }
    (mark, isPending) = (nil, false)
    observer.forget()
    let report = output.report as (EntryChange) throws -> Void
    try watch.look(at: nil, now: output.moment.evaluation, report)
    try output.report(event: "gone", "the cache is gone; waiting until it is back")
  }

  /// Reports that the cache exists again; the next check looks at it.
  private mutating func comeBack(_ present: StoreMark) throws {
    _ = try observer.open(at: output.moment.evaluation)
    mark = present
    isPending = true
    watch.beginWithNothing()
    try output.report(event: "back", "the cache is back")
  }
}

/// The line at the bottom of a terminal that shows what a watch has seen so far.
struct WatchStatusLine {
  private let environment: CommandEnvironment
  private let isShown: Bool
  private var isVisible = false
  private var rate = ChangeRate()
  /// When the line was drawn, and what it showed.
  private var drawn: (second: Int64, changes: Int64) = (-1, -1)

  init(isShown: Bool, in environment: CommandEnvironment) {
    self.environment = environment
    self.isShown = isShown && environment.isMessageTerminal && !environment.isQuiet
  }

  /// Counts changes, for the rate.
  mutating func count(_ changes: Int64, at milliseconds: Int64) {
    rate.insert(changes, atMilliseconds: milliseconds)
  }

  /// Draws the line, if it would show something else than before.
  mutating func draw(_ tally: ChangeTally, after milliseconds: Int64) {
    guard isShown else { return }
    let state = (second: milliseconds / 1_000, changes: tally.all)
    guard !isVisible || state != drawn else { return }
    drawn = state
    let text = WatchRenderer.status(
      tally, changes: rate.changes(atMilliseconds: environment.steadyMilliseconds()),
      // The terminal shows "^C" behind the line.
      after: state.second, width: max(10, (environment.messageWidth() ?? 80) - 3),
      style: environment.messageStyle)
    environment.writeMessage("\(TransientLine.removal)" + String(decoding: text, as: UTF8.self))
    isVisible = true
  }

  /// Removes the line.
  mutating func remove() {
    guard isVisible else { return }
    isVisible = false
    environment.writeMessage("\(TransientLine.removal)")
  }
}
