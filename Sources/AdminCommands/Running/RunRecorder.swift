import Administration
import ArgumentParser
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
      .cannotCreate, kind: "cannot-create", "cannot write the metrics \(error)", path: path)
  }
}
