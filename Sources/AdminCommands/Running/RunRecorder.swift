import Administration
import ArgumentParser
import Files
import Rendering
import ResponseStorage

/// Where the log and the metrics of a command are written.
///
/// They, and every file that the command creates, are tried before it changes anything, and nothing is changed
/// where one cannot be written. A dry run looks only at whether there could be a file of the name.
final class RunRecorder {
  private let verb: String
  private let log: OpenFile?
  private let metricsFile: String?

  /// Tries what the command writes.
  ///
  /// - Throws: ``CommandFailure``; then nothing was written.
  init(
    of command: any ConfiguredCommand, in environment: CommandEnvironment
  ) throws(CommandFailure) {
    let recorded = command.recorded
    let isDryRun = recorded?.isDryRun != false
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
    log = try Self.openLog(recording?.log)
  }

  /// Refuses to write two things to one file: the second would take the place of the first.
  private static func requireDifferentFiles(
    _ files: [NewFileOption]
  ) throws(CommandFailure) {
    var options: [OutputPath: String] = [:]
    for file in files {
      if let other = options.updateValue(file.option, forKey: OutputPath(file.path)) {
        throw .usage(
          "'\(other)' and '\(file.option)' name the same file: '\(printable(file.path))'",
          hint: "name two files")
      }
    }
  }

  private static func openLog(_ path: String?) throws(CommandFailure) -> OpenFile? {
    guard let path else { return nil }
    try CommandFailure.requireFile(at: path, toBe: "a log") {
      // Each line is an object; the first one may be longer than what was read.
      $0.isEmpty || RunRenderer.isLog($0)
    }
    do throws(FileError) {
      try Directory.createParents(of: path)
      return try OpenFile(appendingTo: path)
    } catch {
      throw CommandFailure(
        .cannotCreate, kind: "cannot-create", "cannot open the log \(error)", path: path)
    }
  }

  private static func check(_ metricsFile: String) throws(CommandFailure) {
    try CommandFailure.requireMetrics(at: metricsFile)
    do throws(FileError) {
      try Directory.createParents(of: metricsFile)
      try NewFile.check(at: metricsFile, replacing: true)
    } catch {
      throw CommandFailure(writingMetrics: error, to: metricsFile)
    }
  }

  /// Writes down what a command did to caches.
  func write(_ records: [RunRecord], in environment: CommandEnvironment) throws {
    if let metricsFile {
      let metrics = records.map { environment.metrics(of: $0) }
      try environment.writeMetrics(metrics, to: metricsFile)
    }
    for record in records where log != nil {
      // One write for each, so that lines of several processes do not mix.
      try log?.write(
        RunRenderer.json(
          verb: verb, status: Int(record.status.rawValue), message: record.message,
          metrics: environment.runMetrics(of: record)
        ).bytes)
    }
  }
}

extension CommandFailure {
  /// Refuses to replace a file by metrics that is something else: a cache, or the backup of this very command.
  static func requireMetrics(at path: String) throws(CommandFailure) {
    try refusePartOfCache(at: path)
    try requireFile(at: path, toBe: "metrics") { bytes in
      // Many other files begin with a `#`: a configuration, a script.
      bytes.isEmpty
        || ["# HELP urlcache_", "# TYPE urlcache_"].contains { bytes.starts(with: $0.utf8) }
    }
  }

  /// Refuses a file that is there and is something else than what is written to it.
  ///
  /// It is looked at before it is opened for writing: closing any descriptor of a database drops the locks of SQLite.
  ///
  /// - Parameter isOne: Whether it is what it has to be, by its first bytes.
  fileprivate static func requireFile(
    at path: String, toBe kind: String, _ isOne: ([UInt8]) -> Bool
  ) throws(CommandFailure) {
    guard let file = try? OpenFile(readingThroughLinks: path),
      (try? file.status())?.kind == .regular, let start = try? file.read(512, at: 0)
    else { return }
    guard isOne(start) else {
      throw CommandFailure(
        .cannotCreate, kind: "cannot-create", "'\(path)' is a file that is not \(kind)",
        hint: "take another name", path: path)
    }
  }

  /// Says why metrics cannot be written.
  init(writingMetrics error: FileError, to path: String) {
    self.init(
      .cannotCreate, kind: "cannot-create", "cannot write the metrics \(error)", path: path)
  }
}
