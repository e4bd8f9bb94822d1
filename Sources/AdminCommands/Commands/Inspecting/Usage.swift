public import Administration
public import ArgumentParser
import Bytes
import Rendering
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin usage`: shows the size of a cache.
  struct Usage: AllCachesCommand, CacheOperandCommand {
    static let configuration = CommandConfiguration(
      commandName: "usage",
      abstract: "Show the size of a cache on disk, in total and by group.",
      discussion: """
        A cache does not record its own capacity; use '--capacity' to compare the
        cache with it. Notes then warn about a capacity below 5 MiB, with which
        CFNetwork stores nothing on disk, and about bodies larger than 5% of the
        capacity, which it does not store.

        '--by class' groups entries by the 'class' of the first matching rule that has
        one. All other entries are in the class 'offline' if they are pinned, and in
        'cache' if they are not.

        If entries were removed, 'Churn' shows how many the app has ever stored. From
        the entries that are left, it estimates how many the app stores per day and
        how long an entry lasts. A Foundation cache does not record how many entries
        were ever stored, so there is no 'Churn'.

        The largest groups come first; ranges of age and size are in ascending order.
        '-' means unknown.
        """,
      aliases: ["du"])

    @OptionGroup var operands: CacheOperand
    @OptionGroup(title: "Cache") var cache: CacheOptions
    @OptionGroup(title: "Cache") var scope: ScopeOptions
    @OptionGroup(title: "Output") var secrets: SecretOptions
    @OptionGroup(title: "Output") var terminal: TerminalOptions
    @OptionGroup var expiry: ExpiryOptions

    @Option(
      help: ArgumentHelp("The disk capacity that the app set.", valueName: "size"),
      transform: parseSize)
    var capacity: ByteCount?

    @Option(
      help: ArgumentHelp(
        "Group entries by a property, or by ranges of age or size. 'domain' means 'host', and"
          + " 'type' means 'mime'.", valueName: "key"))
    var by: UsageReport.Grouping?

    @Flag(help: "Show the distribution of ages and sizes.")
    var histogram = false

    @Flag(
      help: """
        Show the total of superseded entries: older versions of files that have a newer version \
        in the cache.
        """)
    var superseded = false

    @Flag(
      help:
        "Show for each host the bytes served without a request, saved by a 304, and downloaded again."
    )
    var savings = false

    @Option(
      help: ArgumentHelp(
        "Exit with status 1 if more than this percentage of the capacity is used.",
        valueName: "percent"),
      transform: parsePercent)
    var failAbove: Double?

    @Option(
      name: [.customShort("n", allowingJoined: true), .long],
      help: ArgumentHelp(
        "Show this many of the largest groups or hosts, and add up the others; by default, the table"
          + " shows 10.",
        valueName: "number"))
    var limit: Int?

    @Option(
      help: ArgumentHelp(
        "List all caches below this folder and add up their sizes, instead of showing one cache;"
          + " '--by' adds up their groups, except by age, size or class. Can be repeated.",
        valueName: "folder"),
      completion: .directory)
    var allUnder: [String] = []

    @OptionGroup(title: "Output") var formats: FormatOptions<UsageFormat>

    var format: UsageFormat { formats.format }
    var writesJSON: Bool { format == .json }
    var outputPurpose: OutputPurpose { .answer }

    mutating func fill(from settings: CacheSettings) {
      // A limit of one cache does not apply to all caches below a folder.
      guard allUnder.isEmpty else { return }
      cache.fill(from: settings)
      capacity = capacity ?? settings.capacity
    }

    func validate() throws {
      if !allUnder.isEmpty { try validateAllUnder() }
      guard capacity.map({ $0 > 0 }) ?? true else {
        throw ValidationError("'--capacity' must be more than zero.")
      }
      if let limit, limit < 0 { throw ValidationError("'--limit' cannot be less than zero.") }
      guard limit == nil || by?.hasRanges != true else {
        throw ValidationError("'--limit' cannot be combined with ranges of age or size.")
      }
      guard !histogram || format == .table || format == .json else {
        throw ValidationError("'--histogram' supports only '--format table' and 'json'.")
      }
      guard !superseded || format == .table || format == .json else {
        throw ValidationError("'--superseded' supports only '--format table' and 'json'.")
      }
      guard !savings || format == .table || format == .json else {
        throw ValidationError("'--savings' supports only '--format table' and 'json'.")
      }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      if !allUnder.isEmpty { return try runAllUnder(in: environment) }
      // A check that can never fail is worse than none.
      guard failAbove == nil || capacity != nil else {
        throw CommandFailure.usage(
          "'--fail-above' is a percentage of the capacity, which is unknown",
          hint: "give it with '--capacity SIZE', or set 'capacity' in the configuration")
      }
      let source = try cache.open(in: environment)
      let now = cache.now(in: environment)
      var report = try UsageReport(
        of: source, by: by, capacityBytes: capacity, now: now, expiryRules: expiry.rules,
        classes: by == .entryClass ? cache.classes(at: now, in: environment) : EntryClasses(),
        withHistograms: histogram,
        findingSuperseded: superseded, clock: environment.now)
      if savings {
        report.savings = try CacheSavings(of: source, at: now, expiryRules: expiry.rules)
      }
      try source.finish()
      report.allowedPercent = failAbove
      let isCut = format == .table && by?.hasRanges == false
      // Only for people: programs get all groups unless they ask for fewer.
      if let count = limit ?? (isCut ? Self.groupsInTable : nil) { report.cutGroups(to: count) }
      if let count = limit ?? (format == .table ? Self.groupsInTable : nil) {
        report.savings?.cutHosts(to: count)
      }
      try write(report, of: source.description, now, environment)
      let rules = CachePlatform(writing: source.description.format).rules
      if savings, !rules.validates, let name = rules.name {
        environment.note(
          "\(name) never validates, so it downloads bodies that a 304 could confirm")
      }
      if source.description.traits.isCache { noteLimits(of: report, rules, environment) }
      // After the report was written, as the number is what is needed when the check fails.
      guard report.exceedsLimit else { return .done }
      environment.writeMessage("the cache uses more of the capacity than '--fail-above' allows\n")
      return .no
    }

    static let groupsInTable = 10

    /// Reports how CFNetwork treats the capacity.
    private func noteLimits(
      of report: UsageReport, _ rules: any PlatformRules, _ environment: CommandEnvironment
    ) {
      guard let capacity else { return }
      if let smallest = rules.smallestCapacity, capacity < smallest {
        environment.note("with a capacity below 5 MiB, CFNetwork does not write the cache to disk")
      }
      if let count = report.oversizedBodies, count > 0 {
        environment.note(
          "\(QuantityWords.counted(count, "body is", "bodies are")) larger than 5% of the capacity"
            + " (\(ByteSizeText.text(capacity / 20))); CFNetwork does not store such bodies")
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

/// The output formats of `usage`.
enum UsageFormat: String, OutputFormat {
  case table, json, csv, tsv
}

extension UsageReport.Grouping: ExpressibleByArgument {
  /// Parses the name of a property, as other options or other programs name it.
  public init?(argument: String) {
    let synonyms = ["domain": "host", "type": "mime", "content-type": "mime"]
    self.init(rawValue: synonyms[argument] ?? argument)
  }
}

extension URLCacheAdmin.Usage {
  /// Rejects options for a single cache.
  func validateAllUnder() throws {
    guard cache.cache == nil, operands.first == nil else {
      throw ValidationError("'--all-under' adds up all caches below a folder, and takes no cache.")
    }
    let others: KeyValuePairs = [
      "--histogram": histogram, "--capacity": capacity != nil, "--fail-above": failAbove != nil,
      "--superseded": superseded, "--savings": savings,
    ]
    let given = others.filter(\.value).map { "'\($0.key)'" }
    guard given.isEmpty else {
      throw ValidationError(
        "'--all-under' adds up whole caches and cannot be combined with \(given.joined(separator: ", "))."
      )
    }
    guard by != nil || limit == nil else {
      throw ValidationError(
        "'--limit' is the number of groups: with '--all-under' it needs '--by'.")
    }
    guard by != .entryClass, by?.hasRanges != true else {
      throw ValidationError(
        "'--by \(by?.rawValue ?? "")' works only on a single cache, without '--all-under'.")
    }
    guard by != nil || format == .table || format == .json else {
      throw ValidationError("'--all-under' writes csv and tsv only with '--by'.")
    }
  }

  /// Shows the sizes of all caches found below folders.
  func runAllUnder(in environment: CommandEnvironment) throws -> ExitStatus {
    let search = StoreSearch(below: allUnder, needsFolders: true)
    // Whoever asks for the sizes of all caches looks for the large ones.
    let discovery = try environment.findStores(search).largestFirst
    let now = cache.now(in: environment)
    let renderer = DiscoveryRenderer(now: now)
    let groups = try groups(in: discovery, at: now, environment)
    let groupRenderer = UsageRenderer(secrets: secrets.policy, now: now)
    var output = OutputBuffer(environment)
    switch format {
    case .json: renderer.appendUsageJSON(discovery, groups, groupRenderer, into: &output.text)
    case .csv: groupRenderer.appendCSV(groups, into: &output.text)
    case .tsv: groupRenderer.appendTSV(groups, into: &output.text)
    case .table:
      renderer.appendUsageTable(discovery, into: &output.text)
      groupRenderer.appendGroupTable(groups, into: &output.text)
    }
    try output.flush()
    environment.noteFindings(of: discovery, search)
    return .done
  }

  /// Adds up the groups of all found caches; without '--by' there are none.
  private func groups(
    in discovery: Discovery, at now: Timestamp, _ environment: CommandEnvironment
  ) throws -> UsageReport {
    var sum = UsageReport(footprint: Footprint())
    guard let by else { return sum }
    sum.grouping = by
    for store in discovery.stores {
      do {
        let source = try environment.openSource(store.path, cache.waitMilliseconds, now).source
        sum.add(
          try UsageReport(
            of: source, by: by, capacityBytes: nil, now: now, expiryRules: expiry.rules))
        try source.finish()
      } catch let error as StoreError {
        environment.note("not included in the groups: \(error)")
      }
    }
    if let count = limit ?? (format == .table ? Self.groupsInTable : nil) {
      sum.cutGroups(to: count)
    }
    return sum
  }
}
