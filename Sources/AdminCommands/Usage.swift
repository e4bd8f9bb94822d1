public import Administration
public import ArgumentParser
import Rendering
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin usage`: what a cache takes up.
  struct Usage: AdminCommand {
    static let configuration = CommandConfiguration(
      commandName: "usage",
      abstract: "Show what a cache takes up on disk, in all and by groups.",
      discussion: """
        A cache does not hold its own capacity: give it to compare. Notes then say what
        CFNetwork does not keep with it: nothing on disk below 5 MiB, and no body of
        more than 5 % of the capacity.

        Groups come the largest first, those by age and size in their own order. What
        is not known is '-'.

        EXIT STATUS
          0 done · 1 more than '--fail-above' allows · 64 · 65 · 66 · 74 · 75 · 77
        """,
      aliases: ["du"])

    @OptionGroup(title: "Cache") var cache: CacheOptions
    @OptionGroup var secrets: SecretOptions
    @OptionGroup var expiry: ExpiryOptions

    @Option(
      help: ArgumentHelp("The disk capacity that the app set.", valueName: "size"),
      transform: parseSize)
    var capacity: Int64?

    @Option(
      help: ArgumentHelp(
        "Group by what entries have in common, or by ranges of their ages or sizes.",
        valueName: "key"))
    var by: UsageReport.Grouping?

    @Flag(help: "Show how the entries are spread over ages and sizes.")
    var histogram = false

    @Option(
      help: ArgumentHelp(
        "End with 1 if more than this share of the capacity is used.", valueName: "percent"),
      transform: parsePercent)
    var failAbove: Double?

    @Option(
      help: ArgumentHelp(
        "Show this many groups, the largest, and sum up the others; without it the table shows 10.",
        valueName: "number"))
    var limit: Int?

    @Option(
      help: ArgumentHelp(
        "Add up all caches below this folder instead; can be repeated.", valueName: "folder"),
      completion: .directory)
    var allUnder: [String] = []

    @Option(help: "How to write: table, json; csv and tsv write the groups.")
    var format = UsageFormat.table

    var writesJSON: Bool { format == .json }

    func validate() throws {
      if !allUnder.isEmpty { try validateAllUnder() }
      guard capacity.map({ $0 > 0 }) ?? true else {
        throw ValidationError("'--capacity' must be more than zero.")
      }
      guard failAbove == nil || capacity != nil else {
        throw ValidationError("'--fail-above' needs '--capacity SIZE'.")
      }
      if let limit, limit < 0 { throw ValidationError("'--limit' cannot be less than zero.") }
      guard limit == nil || by?.hasRanges != true else {
        throw ValidationError("'--limit' cuts off the smallest groups; ages and sizes are ranges.")
      }
      guard !histogram || format == .table || format == .json else {
        throw ValidationError("'--histogram' is written as table or json only.")
      }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      if !allUnder.isEmpty { return try runAllUnder(in: environment) }
      let source = try cache.open(in: environment)
      let now = cache.now(in: environment)
      var report = try UsageReport(
        of: source, by: by, capacityBytes: capacity, now: now, expiryRules: expiry.rules,
        withHistograms: histogram)
      try source.finish()
      report.allowedPercent = failAbove
      let isCut = format == .table && by?.hasRanges == false
      if let count = limit ?? (isCut ? Self.groupsInTable : nil) { report.cutGroups(to: count) }
      try write(report, of: source.description, now, environment)
      if source.description.format == .apple { noteLimits(of: report, environment) }
      guard report.exceedsLimit else { return .done }
      environment.writeMessage("more than the allowed share of the capacity is used\n")
      return .no
    }

    private static let groupsInTable = 10

    /// Tells the user what the capacity means to CFNetwork.
    private func noteLimits(of report: UsageReport, _ environment: CommandEnvironment) {
      guard let capacity else { return }
      if capacity < UsageReport.smallestCapacity {
        environment.note("with a capacity below 5 MiB CFNetwork writes no cache to disk")
      }
      if let count = report.oversizedBodies, count > 0 {
        environment.note(
          "\(count) \(count == 1 ? "body is" : "bodies are") larger than 5 % of the capacity"
            + " (\(ByteSizeText.text(capacity / 20))), which CFNetwork does not store")
      }
    }

    private func write(
      _ report: UsageReport, of store: StoreDescription, _ now: Timestamp,
      _ environment: CommandEnvironment
    ) throws {
      let renderer = UsageRenderer(secrets: secrets.policy, now: now)
      var output = OutputBuffer(environment)
      switch format {
      case .table: renderer.appendText(report, of: store, into: &output.text)
      case .json: renderer.appendJSON(report, of: store, into: &output.text)
      case .csv: renderer.appendCSV(report, into: &output.text)
      case .tsv: renderer.appendTSV(report, into: &output.text)
      }
      try output.flush()
    }
  }
}

/// The formats of `usage`.
enum UsageFormat: String, CaseIterable, ExpressibleByArgument {
  case table, json, csv, tsv
}

extension UsageReport.Grouping: ExpressibleByArgument {}
