import Administration
public import ArgumentParser
import Bytes
import Files
public import ResponseArchives
import ResponseStorage

/// The options for writing an archive.
struct ArchiveOptions: ParsableArguments {
  @Option(
    name: [.customShort("f"), .customLong("format"), .customLong("archive-format")],
    help: ArgumentHelp(
      "The format: \(ExportFormat.allCases.map(\.rawValue).joined(separator: ", ")); default: from the"
        + " file name, else tar.zst."))
  var archiveFormat: ExportFormat?

  @Option(
    help: ArgumentHelp("The compression level: 1 to 19 for zstd, 1 to 9 for gzip and zip."))
  var level: Int?

  @Option(help: ArgumentHelp("The number of threads for zstd (default: 1).", valueName: "number"))
  var threads: Int?

  @Option(
    help: ArgumentHelp(
      "Skip entries with a larger body (default: 8GiB).", valueName: "size"),
    transform: parseSize)
  var maxBody: ByteCount?

  @Option(
    help: ArgumentHelp(
      "The time in the archive (default: SOURCE_DATE_EPOCH, or when the newest entry was first stored).",
      valueName: "time"), transform: parseTime)
  var created: WrittenTime?

  func validate() throws {
    guard 1...64 ~= threads ?? 1 else { throw ValidationError("'--threads' must be from 1 to 64.") }
  }

  /// Returns the format of an archive file with this name.
  func format(for path: String) throws(CommandFailure) -> ExportFormat {
    guard let format = archiveFormat ?? (path == "-" ? .tarZstd : ExportFormat(ofFileNamed: path))
    else {
      throw .usage(
        "cannot tell the archive format from the name '\(path)'",
        hint: "end it with \(ExportFormat.endingsInWords(ExportFormat.allCases)), or give"
          + " '--format'")
    }
    guard let level else { return format }
    guard let levels = format.levels else {
      throw .usage("'\(format.rawValue)' has no compression level")
    }
    guard levels ~= level else {
      throw .usage(
        "'--level' must be from \(levels.lowerBound) to \(levels.upperBound) for \(format.rawValue)"
      )
    }
    return format
  }

  /// Returns the time to store in the archive; `nil` if not specified.
  func time(in environment: CommandEnvironment) throws(CommandFailure) -> Timestamp? {
    if let created {
      if let note = created.note { environment.note(note) }
      return created.time
    }
    guard let text = environment.variable("SOURCE_DATE_EPOCH"), !text.isEmpty else { return nil }
    guard let seconds = Int64(text), let time = Timestamp(secondsSince1970: Double(seconds)) else {
      throw .usage("SOURCE_DATE_EPOCH is '\(text)', which is not a number of seconds since 1970")
    }
    return time
  }
}

extension ExportFormat: ExpressibleByArgument {
  /// Returns the file name extensions of some formats, without the leading dot.
  static func extensions(where isWanted: (ExportFormat) -> Bool) -> [String] {
    allCases.filter(isWanted).flatMap(\.endings).map { String($0.utf8.dropFirst()) ?? $0 }
  }

  /// Returns the file name extensions of some formats for people, such as `.tar or .zip`.
  static func endingsInWords(_ formats: [ExportFormat]) -> String {
    let endings = formats.compactMap { $0.endings.first }
    return [endings.dropLast().joined(separator: ", "), endings.last ?? ""]
      .joined(separator: " or ")
  }
}
