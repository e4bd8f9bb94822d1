import Administration
import ArgumentParser
import Auditing
import Bytes
import Files
import Rendering
import ResponseArchives
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin report`: writes a report about a cache.
  struct Report: CacheOperandCommand {
    static let configuration = CommandConfiguration(
      commandName: "report",
      abstract: "Write a report about a cache as an HTML page or Markdown.",
      usage: "urlcache-admin report [<options>] [<cache>] -o <file>",
      discussion: """
        EXAMPLES
          urlcache-admin report -c PATH -o report.html
          urlcache-admin report -c PATH --capacity 512MiB --format markdown -o -

        The report shows how full and how stale the cache is, suggests what to do, and
        shows what uses the space, the ages and sizes of entries, what an age limit
        would free, and any findings. It lists the largest hosts, folders and entries,
        and adds up the others. The page loads and sends nothing, and works without
        its script. '--audit' adds the findings of 'audit', grouped by rule and
        without the secrets; this reads all bodies. A cache does not record its own
        capacity; use '--capacity' to compare the cache with it.
        """)

    @OptionGroup var operands: CacheOperand
    @OptionGroup(title: "Cache") var cache: CacheOptions
    @OptionGroup(title: "Output") var terminal: TerminalOptions
    @OptionGroup var expiry: ExpiryOptions

    @Option(
      help: ArgumentHelp("The disk capacity that the app set.", valueName: "size"),
      transform: parseSize)
    var capacity: ByteCount?

    @Flag(help: "Add the findings of 'audit': secrets, private data and caching mistakes.")
    var audit = false

    @Option(
      name: [.short, .long],
      help: ArgumentHelp(
        "The new file; '-' is standard output.", valueName: "file"),
      completion: .file(extensions: ["html", "md"]))
    var output: String

    @Flag(help: "Replace an existing file.")
    var force = false

    @Option(name: [.customShort("f"), .long], help: "The output format: html, markdown.")
    var format = ReportFormat.html

    @Flag(help: "Show passwords and tokens in URLs instead of '***'.")
    var showSecrets = false

    var outputs: [String] { [output] }
    var writesJSON: Bool { false }

    mutating func fill(from settings: CacheSettings) {
      cache.fill(from: settings)
      capacity = capacity ?? settings.capacity
    }

    func validate() throws {
      guard capacity.map({ $0 > 0 }) ?? true else {
        throw ValidationError("'--capacity' must be more than zero.")
      }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      let source = try cache.open(in: environment)
      try source.refuseReplacement(by: output)
      // Before the cache is read, which may take long: a file that cannot be created should be
      // reported at once.
      try ArchiveOutput.check(path: output, isForced: force, in: environment)
      let now = cache.now(in: environment)
      var report = try environment.showingProgress("Reading entries", over: source) {
        try CacheReport(
          of: source, at: now, expiryRules: expiry.rules, capacityBytes: capacity,
          clock: environment.now)
      }
      // Before the report gets its name: of a cache that changed meanwhile, the numbers would not
      // add up.
      let findings = try audit ? audited(source, at: now, in: environment) : nil
      if findings == nil { try source.finish() }
      // The report may be read elsewhere, and its commands must work there.
      report.store.path = absolutePath(report.store.path)
      let renderer = ReportRenderer(
        secrets: SecretPolicy(showSecrets: showSecrets),
        generator: "urlcache-admin \(URLCacheAdmin.versionNumber)")
      var text = TextBuffer()
      switch format {
      case .html: renderer.appendHTML(report, audit: findings, into: &text)
      case .markdown: renderer.appendMarkdown(report, audit: findings, into: &text)
      }
      // Only now, because signals are held back while the file exists.
      let target = try ArchiveOutput(path: output, isForced: force, isText: true, environment)
      try target.write(text.bytes)
      try target.commit()
      if output != "-" {
        environment.inform(
          "Wrote \(printable(output)) (\(ByteSizeText.text(ByteCount(text.bytes.count))))\n")
      }
      return .done
    }

    /// Audits the cache with all rules, and ends the reading.
    private func audited(
      _ source: any ResponseSource, at now: Timestamp, in environment: CommandEnvironment
    ) throws -> AuditTally {
      let store = source.description
      var options = CacheAudit.Options(now: now, platform: CachePlatform(writing: store.format))
      options.capacity = capacity
      options.expiryRules = expiry.rules
      let scan = AuditScan(options)
      var tally = AuditTally(examples: 0)
      try environment.showingProgress("Auditing entries", over: source) {
        var listing = Listing(selection: Selection(), now: now)
        try scan.audit(source, &listing) { tally.insert($0, size: $1) }
      }
      tally.insert(scan.findingsOnFiles(of: store))
      try scan.findOnAll { tally.insert([$0]) }
      let orphans = try source.orphans(at: environment.now).files
      try source.finish()
      tally.insert(try scan.findingsLeftBehind(in: store, orphans, environment))
      return tally
    }
  }
}

/// The output formats of `report`.
enum ReportFormat: String, CaseIterable, ExpressibleByArgument {
  case html, markdown
}
