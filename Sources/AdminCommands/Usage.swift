public import Administration
public import ArgumentParser
import Rendering
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin usage`: what a cache takes up.
  struct Usage: AdminCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show what a cache takes up on disk, in all and by groups.",
      discussion: """
        A cache does not hold its own capacity: give it to compare.

        EXIT STATUS
          0 done · 1 more than '--fail-above' allows · 64 · 65 · 66 · 74 · 75 · 77
        """,
      aliases: ["du"])

    @OptionGroup var cache: CacheOptions

    @Option(
      help: ArgumentHelp("The disk capacity that the app set.", valueName: "size"),
      transform: parseSize)
    var capacity: Int64?

    @Option(help: "Group by host, mime, status or method.")
    var by: UsageReport.Grouping?

    @Option(
      help: ArgumentHelp(
        "End with 1 if more than this share of the capacity is used.", valueName: "percent"),
      transform: parsePercent)
    var failAbove: Double?

    @Option(help: "How to write: table, json; csv and tsv write the groups.")
    var format = UsageFormat.table

    var writesJSON: Bool { format == .json }

    func validate() throws {
      guard capacity.map({ $0 > 0 }) ?? true else {
        throw ValidationError("'--capacity' must be more than zero.")
      }
      guard failAbove == nil || capacity != nil else {
        throw ValidationError("'--fail-above' needs '--capacity SIZE'.")
      }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      let source = try cache.open(in: environment)
      let report = try UsageReport(of: source, by: by, capacityBytes: capacity)
      try source.finish()
      let figures = UsageFigures(
        store: source.description, entries: report.entries, bodyBytes: report.bodyBytes,
        footprint: report.footprint, capacityBytes: capacity,
        groups: report.groups.map { .init(key: $0.key, entries: $0.entries, bytes: $0.bytes) },
        groupTitle: by?.rawValue)
      let renderer = UsageRenderer()
      var output = OutputBuffer(environment)
      switch format {
      case .table: renderer.appendText(figures, into: &output.text)
      case .json: renderer.appendJSON(figures, into: &output.text)
      case .csv: renderer.appendCSV(figures, into: &output.text)
      case .tsv: renderer.appendTSV(figures, into: &output.text)
      }
      try output.flush()
      guard let failAbove, let capacity else { return .done }
      let percent = Double(report.footprint.totalBytes) / Double(capacity) * 100
      guard percent > failAbove else { return .done }
      environment.writeMessage("more than the allowed share of the capacity is used\n")
      return .no
    }
  }
}

/// The formats of `usage`.
enum UsageFormat: String, CaseIterable, ExpressibleByArgument {
  case table, json, csv, tsv
}

extension UsageReport.Grouping: ExpressibleByArgument {}

/// A share on the command line, in percent: `90%` or `90`.
func parsePercent(_ text: String) throws -> Double {
  let number = text.utf8.last == UInt8(ascii: "%") ? String(text.dropLast()) : text
  guard let percent = Double(number), percent >= 0, percent.isFinite else {
    throw ValidationError("'\(printable(text))' is not a share. Write for example '90%'.")
  }
  return percent
}
