import Administration
import ArgumentParser
import Bytes
import Files
import Rendering
import ResponseStorage

/// Writes the log and the metrics of a command.
///
/// Before the command changes anything, it is checked that these files and all new files of the command can be written,
/// and room for the log and the metrics is reserved; otherwise nothing is changed. A dry run checks the same except for
/// the room, and creates nothing.
final class RunRecorder {
  private let verb: String
  private let log: OpenFile?
  private let metricsFile: String?
  /// The room for the metrics, until they are written.
  private var room: TemporaryFile?

  /// The room to reserve for the record of one cache, in bytes. Metrics and lines take less than half of it, except for
  /// the name of the cache and the reason of a failure, which can be long.
  private static let bytesOfMetrics: Int64 = 1 << 14
  private static let bytesOfLine: Int64 = 1 << 12

  /// Checks the files that the command writes.
  ///
  /// - Throws: ``CommandFailure``; nothing was written then.
  init(
    of command: any ConfiguredCommand, in environment: CommandEnvironment
  ) throws(CommandFailure) {
    let recorded = command.recorded
    let isDryRun = command.isDryRun
    let recording = isDryRun ? nil : recorded?.recording
    let files = command.newFiles + (recorded?.recording.files ?? [])
    try Self.requireDifferentFiles(files)
    for file in files { try CommandFailure.refusePartOfCache(at: file.path) }
    for file in command.newFiles {
      do throws(FileError) {
        try isDryRun
          ? NewFile.requireNothing(at: file.path)
          : NewFile.check(at: file.path, replacing: false)
      } catch {
        throw CommandFailure(creating: error, canBeForced: false)
      }
    }
    verb = type(of: command)._commandName
    metricsFile = recording?.metricsFile
    if let metricsFile = recording?.metricsFile { try Self.check(metricsFile) }
    // Opened before the run: a run that has removed entries and then cannot say so would be the
    // worst order.
    log = try Self.openLog(recording?.log)
    if isDryRun, let recording = recorded?.recording { try Self.checkCreating(recording) }
    let count = command.runsForAllCaches ? Int64(environment.configuration.cacheNames.count) : 1
    if let path = recording?.log {
      do throws(FileError) { try log?.reserveRoom(count * Self.bytesOfLine) } catch {
        throw CommandFailure(withoutRoom: error, for: "the log", at: path)
      }
    }
    if let metricsFile {
      do throws(FileError) {
        room = try NewFile.reserveRoom(count * Self.bytesOfMetrics, at: metricsFile)
      } catch {
        throw CommandFailure(withoutRoom: error, for: "the metrics", at: metricsFile)
      }
    }
  }

  /// Rejects files that a run could not write.
  private static func checkCreating(_ recording: RecordOptions) throws(CommandFailure) {
    if let path = recording.metricsFile {
      try CommandFailure.requireMetrics(at: path)
      do throws(FileError) { try FileAccess.checkReplacing(at: path) } catch {
        throw CommandFailure(writingMetrics: error, to: path)
      }
    }
    if let path = recording.log {
      try requireLog(at: path)
      do throws(FileError) { try FileAccess.checkCreating(at: path) } catch {
        throw CommandFailure(openingLog: error, at: path)
      }
    }
  }

  /// Rejects two outputs to one file: the second would replace the first.
  private static func requireDifferentFiles(
    _ files: [NewFileOption]
  ) throws(CommandFailure) {
    var options: [OutputPath: String] = [:]
    for file in files {
      if let other = options.updateValue(file.option, forKey: OutputPath(file.path)) {
        throw .usage(
          "'\(other)' and '\(file.option)' name the same file: '\(printable(file.path))'",
          hint: "use two different files")
      }
    }
  }

  private static func openLog(_ path: String?) throws(CommandFailure) -> OpenFile? {
    guard let path else { return nil }
    try requireLog(at: path)
    do throws(FileError) {
      try Directory.createParents(of: path)
      return try OpenFile(appendingTo: path)
    } catch { throw CommandFailure(openingLog: error, at: path) }
  }

  private static func requireLog(at path: String) throws(CommandFailure) {
    try CommandFailure.requireFile(at: path, toBe: "a log") {
      // A log has one object per line; the first line may be longer than the bytes that were read.
      $0.isEmpty || RunRenderer.isLog($0)
    }
  }

  /// Checks that a metrics file can be written, and creates its folder.
  static func check(_ metricsFile: String) throws(CommandFailure) {
    try CommandFailure.requireMetrics(at: metricsFile)
    do throws(FileError) {
      try Directory.createParents(of: metricsFile)
      try NewFile.check(at: metricsFile, replacing: true)
    } catch {
      throw CommandFailure(writingMetrics: error, to: metricsFile)
    }
  }

  /// Records the results of a command. If that fails, they are written to standard error.
  func write(_ records: [RunRecord], in environment: CommandEnvironment) throws(CommandFailure) {
    var failure: CommandFailure?
    if let metricsFile {
      let metrics = records.map { environment.metrics(of: $0) }
      // Now the file itself takes it.
      room = nil
      do throws(CommandFailure) {
        try environment.writeMetrics(metrics, to: metricsFile)
      } catch {
        failure = error
        // The work is done: this is no output that could not be created before it.
        failure?.status = .inputOutput
      }
    }
    var isLogged = log != nil
    for record in records {
      // Write each line at once, so that lines of several processes do not mix.
      do throws(FileError) { try log?.appendLine(line(for: record, in: environment)) } catch {
        failure = failure ?? CommandFailure(error)
        isLogged = false
      }
    }
    guard let failure else { return }
    // What was removed is gone, and this is the last place to say so.
    for record in records where !isLogged {
      environment.writeMessage(
        "note: not recorded: "
          + String(decoding: line(for: record, in: environment), as: UTF8.self))
    }
    throw failure
  }

  /// Returns the line of a log, which ends with a line feed.
  private func line(for record: RunRecord, in environment: CommandEnvironment) -> [UInt8] {
    RunRenderer.json(
      verb: verb, status: Int(record.status.rawValue), message: record.message,
      metrics: environment.runMetrics(of: record)
    ).bytes
  }
}

extension CommandFailure {
  /// Rejects to replace another file by metrics, such as a cache or the backup of the same command.
  static func requireMetrics(at path: String) throws(CommandFailure) {
    try refusePartOfCache(at: path)
    try requireFile(at: path, toBe: "a metrics file") { bytes in
      // Check more than `#`, with which configurations and scripts begin, too.
      bytes.isEmpty
        || ["# HELP urlcache_", "# TYPE urlcache_"].contains { bytes.starts(with: $0.utf8) }
    }
  }

  /// Rejects an existing file that contains something else than the output.
  ///
  /// Reads the file before it is opened for writing: closing any descriptor of a database drops SQLite's locks.
  ///
  /// - Parameter isOne: Whether the first bytes are those of the right kind of file.
  fileprivate static func requireFile(
    at path: String, toBe kind: String, _ isOne: ([UInt8]) -> Bool
  ) throws(CommandFailure) {
    guard let file = try? OpenFile(readingThroughLinks: path),
      (try? file.status())?.kind == .regular, let start = try? file.read(512, at: 0)
    else { return }
    guard isOne(start) else {
      throw CommandFailure(
        .cannotCreate, kind: "cannot-create", "'\(path)' exists and is not \(kind)",
        hint: "use another name", path: path)
    }
  }

  /// Creates the failure to open a log.
  fileprivate init(openingLog error: FileError, at path: String) {
    self.init(.cannotCreate, kind: "cannot-create", "cannot open the log \(error)", path: path)
  }

  /// Creates the failure to reserve room for a record.
  fileprivate init(withoutRoom error: FileError, for what: String, at path: String) {
    self.init(
      .cannotCreate, kind: "no-room",
      "nothing was changed: there is no room for \(what) \(error)",
      hint: "free space on its file system, then run the command again", path: path)
  }

  /// Creates the failure to write metrics.
  init(writingMetrics error: FileError, to path: String) {
    self.init(
      .cannotCreate, kind: "cannot-create", "cannot write the metrics file \(error)", path: path)
  }
}

// A class, because an environment is copied for each cache, and what a failed run has done must not
// be lost with its copy.
/// The result of a run, for metrics and logs.
final class RunRecord {
  /// The name of the cache, or else its path.
  let cache: String
  /// The paths of the caches and archives that the command reads.
  var paths: Set<String> = []
  /// The number of removed entries.
  private(set) var removedEntries: Int64 = 0
  /// The total size of their bodies, in bytes.
  private(set) var removedBytes: ByteCount = 0
  /// The number of entries and files left because the run was stopped.
  var left: Int64 = 0
  /// Whether the run was skipped.
  var isSkipped = false
  /// Whether a worker has done the work.
  var isIsolated = false
  /// Whether that worker has ended without a result.
  var isLost = false
  /// Why it ended early or was skipped.
  var message: String?
  /// The maximum size on disk, in bytes, if the command knows it.
  var capacityBytes: ByteCount?
  /// The expiry rules of the app, which affect freshness.
  var expiryRules = UserInfoExpiry.known
  /// The requested names that the cache does not have, each with a message; `nil` unless the command runs for all
  /// caches.
  ///
  /// Collected, because hardly any list of URLs for all caches is complete in each of them.
  var absences: [(name: EntryNames.Name, sentence: String)]?
  /// The exit status.
  var status = ExitStatus.done
  /// The start, in milliseconds of the monotonic clock.
  var start: Int64 = 0
  /// The duration, in seconds.
  var durationSeconds = 0.0
  /// The end; `nil` if the clock is not set.
  var end: Timestamp?

  /// The signals that would end the process between a change and the record of it.
  private var signals: HeldSignals?
  private var holdsSignals = false

  init(cache: String = "") {
    self.cache = cache
  }

  /// Holds signals until what is done from now on is recorded.
  func holdSignals() {
    if !holdsSignals { signals = HeldSignals() }
    holdsSignals = true
  }

  /// Lets signals end the process again.
  func releaseSignals() {
    signals = nil
    holdsSignals = false
  }

  /// Adds entries that a worker has removed.
  func addRemoved(entries: Int64, bytes: ByteCount) {
    removedEntries = max(0, entries)
    removedBytes = max(0, bytes)
  }

  /// Adds removed entries.
  func add(_ done: RemovalPlan) {
    removedEntries += Int64(done.entries.count)
    removedBytes += done.bodyBytes
  }
}

/// The start and the deadline of a run, shared by all caches of `--all-caches`.
final class RunSchedule {
  private var hasBegun = false
  /// The deadline on the monotonic clock, in milliseconds.
  private var end: Int64?

  /// Waits for the random delay on the first call, and then starts the clock.
  ///
  /// A signal ends the process while it waits, because nothing has started.
  ///
  /// - Parameter waits: Whether to wait for the delay.
  /// - Returns: Whether it waited.
  func begin(
    _ options: ScheduleOptions, waiting waits: Bool, in environment: CommandEnvironment
  ) -> Bool {
    if hasBegun { return false }
    hasBegun = true
    let delay =
      // Random, so that a fleet of machines with the same timer does not load a server or a network
      // file system in the same second.
      waits && options.splay > 0 ? environment.random(Self.milliseconds(options.splay)) : 0
    if delay > 0 {
      environment.note("starting in \(AgeText.words(seconds: delay / 1_000)), because of '--splay'")
      environment.pause(delay)
    }
    end = options.maxRuntime.map {
      environment.steadyMilliseconds() + Self.milliseconds($0)
    }
    return delay > 0
  }

  /// Whether a worker has taken the time up without an end.
  var wasHeldUp = false

  /// Begins, in a worker, with the time that its command has left.
  func begin(millisecondsLeft: Int64?, in environment: CommandEnvironment) {
    hasBegun = true
    end = millisecondsLeft.map { environment.steadyMilliseconds() + $0 }
  }

  /// How long the command may still run at a time of the monotonic clock; `nil` for any time.
  func millisecondsLeft(at milliseconds: Int64) -> Int64? { end.map { $0 - milliseconds } }

  /// Gives the time back that a worker has taken without an end, as one cache must not stop the clean-up of others.
  func extend(since start: Int64, to milliseconds: Int64) {
    if wasHeldUp { end = end.map { $0 + milliseconds - start } }
    wasHeldUp = false
  }

  /// Whether the deadline has passed at a time of the monotonic clock.
  func isOver(at milliseconds: Int64) -> Bool { end.map { milliseconds >= $0 } ?? false }

  /// The limit of about 30,000 years keeps sums of two times in range.
  private static func milliseconds(_ seconds: Double) -> Int64 { Int64(min(seconds, 1e12) * 1_000) }
}

extension CommandEnvironment {
  /// Whether the time limit of the run has passed.
  var isTimeOver: Bool { schedule.isOver(at: steadyMilliseconds()) }

  /// Returns why a command must stop; `nil` if it can continue.
  func stopReason(_ signals: borrowing HeldSignals) -> StopReason? {
    signals.haveCome ? .signal : isTimeOver ? .maxRuntime : nil
  }
}
