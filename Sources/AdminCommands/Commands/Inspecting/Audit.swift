import Administration
import ArgumentParser
import Auditing
import Bytes
import Files
import JSON
import Rendering
import ResponseArchives
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin audit`: finds secrets, private data, and what servers get wrong.
  struct Audit: AllCachesCommand, SelectingCommand {
    static let configuration = CommandConfiguration(
      commandName: "audit",
      abstract: "Find secrets and private data in a cache, and caching mistakes.",
      discussion: """
        Looks for credentials in URLs, header fields, user info and decoded bodies;
        for responses that another user could receive; and for what servers get wrong
        about caching. The table counts the findings of each rule and host;
        '--details', '--rule' and options that select entries show the findings.
        Secrets are shown as '***', with their place and a fingerprint that is the
        same in every run.

        '--write-baseline' saves the current findings, so that '--baseline' reports
        only new ones.

        Exits with status 1 if a finding is at least as severe as '--fail-on'.
        """)

    @OptionGroup var operands: CacheOperand
    @OptionGroup(title: "Audit") var audit: AuditOptions
    @OptionGroup(title: "Selection") var selection: SelectionOptions
    @OptionGroup(title: "Cache") var cache: CacheOptions
    @OptionGroup(title: "Cache") var scope: ScopeOptions
    @OptionGroup(title: "Output") var formats: FormatOptions<AuditRenderer.Format>
    @OptionGroup(title: "Output") var output: AuditOutputOptions
    @OptionGroup(title: "Output") var secrets: SecretOptions
    @OptionGroup(title: "Output") var terminal: TerminalOptions

    var format: AuditRenderer.Format { formats.format }
    var inputs: [String] {
      selection.urlFile + [audit.baseline, audit.writeBaseline].compactMap(\.self)
    }
    var outputs: [String] { audit.writeBaseline.map { [$0] } ?? [] }
    var writesJSON: Bool { [.json, .sarif, .ndjson].contains(format) }
    var outputPurpose: OutputPurpose { .answer }

    mutating func fill(from settings: CacheSettings) {
      cache.fill(from: settings)
      audit.capacity = audit.capacity ?? settings.capacity
    }

    mutating func takeOperands(in environment: CommandEnvironment) throws {
      if !audit.rules { try takeCacheOperand(in: environment) }
    }

    func validate() throws {
      guard scope.allCaches else { return }
      guard audit.writeBaseline == nil, ![.sarif, .markdown, .csv].contains(format) else {
        throw ValidationError(
          "'--all-caches' writes several documents, so it cannot be combined with"
            + " '--write-baseline', '--format csv', '--format sarif' or '--format markdown'.")
      }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      var output = OutputBuffer(environment)
      if audit.rules {
        AuditRuleRenderer.append(
          audit.selectedRules, asJSON: writesJSON, into: &output.text)
        try output.flush()
        return .done
      }
      let baseline = try audit.knownFindings(in: environment)
      let source = try cache.open(in: environment)
      let target = try audit.newBaseline(beside: source, in: environment)
      let now = cache.now(in: environment)
      let selection = try selection.resolved(at: now, of: cache, from: source, in: environment)
      var listing = Listing(selection: selection, now: now)
      var run = AuditRun(
        options(for: source.description, at: now), baseline: baseline,
        keepsBaseline: target != nil,
        renderer: renderer(
          of: source.description, at: now, showingDetails: showsDetails(selection)),
        examples: self.output.examples ?? AuditOutputOptions.examples, in: environment)
      try environment.showingProgress("Auditing entries", over: source) {
        try run.audit(source, &listing)
      }
      // Files and pages belong to no entry, so a selection of entries leaves them out.
      let isWhole = selection.isEmpty
      let orphans = isWhole ? try source.orphans(at: environment.now).files : []
      if isWhole { try run.auditFiles(of: source.description) }
      if isWhole, audit.namesPermissions,
        !(CacheFiles(of: source.description)?.isAmongCaches ?? false)
      {
        environment.note("permissions are checked only in a folder for caches")
      }
      let help = try listing.absent.help(in: source, secrets.policy)
      try source.finish()
      if isWhole { try run.auditRemains(of: source.description, orphans) }
      try run.finish(of: source.description)
      if let target {
        try target.write(run.newBaseline.json)
        try target.commit()
      }
      let absence = listing.report(in: environment, secrets.policy)
      environment.report(help)
      return absence == .done ? run.status(failingOn: audit.failOn) : absence
    }

    private func options(for store: StoreDescription, at now: Timestamp) -> CacheAudit.Options {
      var options = CacheAudit.Options(now: now, platform: CachePlatform(writing: store.format))
      options.capacity = audit.capacity
      options.expiryRules = selection.expiry.rules
      options.rules = Set(audit.selectedRules)
      return options
    }

    /// Whether the table shows findings: who selects entries or rules, or says how much to show, wants to see them.
    private func showsDetails(_ selection: Selection) -> Bool {
      output.details || !selection.isEmpty || !audit.only.isEmpty || audit.baseline != nil
        || output.limit != nil || output.examples != nil
    }

    private func renderer(
      of store: StoreDescription, at now: Timestamp, showingDetails showsDetails: Bool
    ) -> AuditRenderer {
      var renderer = AuditRenderer(
        format, secrets: secrets.policy, now: now, rules: audit.selectedRules, of: store,
        by: .init(name: "urlcache-admin", version: URLCacheAdmin.versionNumber),
        mostHosts: output.limit ?? AuditOutputOptions.hosts)
      renderer.showsDetails = showsDetails
      return renderer
    }
  }
}

extension AuditRenderer.Format: OutputFormat {}

/// The options for what to look for, and what is known already.
struct AuditOptions: ParsableArguments {
  @Flag(help: "List the rules; do not read a cache.")
  var rules = false

  @Option(
    name: .customLong("rule"),
    help: ArgumentHelp(
      "Apply only this rule, or the rules on this subject: secret, privacy, caching.",
      valueName: "id"),
    completion: .list(RuleSelector.all), transform: RuleSelector.init(parsing:))
  var only: [RuleSelector] = []

  @Option(
    help: ArgumentHelp("Do not apply this rule, or the rules on this subject.", valueName: "id"),
    completion: .list(RuleSelector.all), transform: RuleSelector.init(parsing:))
  var ignore: [RuleSelector] = []

  @Option(
    help: ArgumentHelp("Report only findings that are not in this file.", valueName: "file"),
    completion: .file(extensions: ["json"]))
  var baseline: String?

  @Option(
    help: ArgumentHelp("Write the findings to this file, as a baseline.", valueName: "file"),
    completion: .file(extensions: ["json"]))
  var writeBaseline: String?

  @Option(
    help: ArgumentHelp(
      "Exit with status 1 if a finding is at least this severe: error, warning, note, never.",
      valueName: "severity"))
  var failOn = FailureLimit.error

  @Option(
    help: ArgumentHelp("The disk capacity that the app set.", valueName: "size"),
    transform: parseSize)
  var capacity: ByteCount?

  func validate() throws {
    guard capacity.map({ $0 > 0 }) ?? true else {
      throw ValidationError("'--capacity' must be more than zero.")
    }
    guard !selectedRules.isEmpty else {
      throw ValidationError("'--rule' and '--ignore' leave no rule to apply.")
    }
  }

  /// The rules to apply, in the order of their ids.
  var selectedRules: [AuditRule] {
    AuditRule.all.filter { rule in
      (only.isEmpty || only.contains { $0.matches(rule) }) && !ignore.contains { $0.matches(rule) }
    }
  }

  /// Whether the rule about permissions is given by its id.
  var namesPermissions: Bool { only.contains { $0.isID("privacy/readable-by-others") } }

  /// Reads the baseline; `nil` if there is none.
  func knownFindings(in environment: CommandEnvironment) throws -> AuditBaseline? {
    try baseline.map { try Self.baseline(in: $0, environment) }
  }

  private static func baseline(
    in path: String, _ environment: CommandEnvironment
  ) throws -> AuditBaseline {
    let text = try environment.inputs.text(of: path, upTo: AuditBaseline.mostBytes)
    do { return try AuditBaseline(text) } catch {
      throw CommandFailure.usage(
        "'\(printable(path))' is not a baseline",
        hint: "write one with: urlcache-admin audit CACHE --write-baseline FILE")
    }
  }

  /// Creates the file for the new baseline, before the cache is read; `nil` if none is wanted.
  func newBaseline(
    beside source: any ResponseSource, in environment: CommandEnvironment
  ) throws -> ArchiveOutput? {
    guard let writeBaseline else { return nil }
    try source.refuseReplacement(by: writeBaseline)
    // A baseline is replaced by a newer one, and nothing else is.
    let exists = writeBaseline != "-" && (try? FileStatus.of(writeBaseline)) != nil
    if exists { _ = try Self.baseline(in: writeBaseline, environment) }
    return try ArchiveOutput(path: writeBaseline, isForced: exists, isText: true, environment)
  }
}

/// The id of a rule, or the subject of several.
struct RuleSelector: Hashable {
  private let text: String

  /// All ids and subjects.
  static let all = AuditRule.Subject.allCases.map(\.rawValue) + AuditRule.all.map(\.id)

  init(parsing text: String) throws {
    let text = ["secrets", "token", "tokens"].contains(text) ? "secret" : text
    guard Self.all.contains(text) else {
      let nearest = Spelling.nearest(to: text, among: Self.all).map { "Did you mean '\($0)'?" }
      throw ValidationError(
        "'\(printable(text))' is not a rule. \(nearest ?? "List them with 'audit --rules'.")")
    }
    self.text = text
  }

  /// Whether this is the id of a rule.
  func isID(_ id: String) -> Bool { text == id }

  /// Whether the rule is meant.
  func matches(_ rule: AuditRule) -> Bool { rule.id == text || rule.subject.rawValue == text }
}

/// The least severe finding that makes the command fail.
enum FailureLimit: String, CaseIterable, ExpressibleByArgument {
  case error, warning, note, never

  /// The severity; `nil` for none.
  var severity: Finding.Severity? { Finding.Severity(rawValue: rawValue) }
}

/// The options for how much to show of an audit.
struct AuditOutputOptions: ParsableArguments {
  /// The number of hosts and findings to show without options.
  static let (hosts, examples) = (20, 3)

  @Flag(help: "Show the findings themselves, not only how many there are (table).")
  var details = false

  @Option(
    name: [.customShort("n"), .long],
    help: ArgumentHelp(
      "Show at most this many hosts (table and markdown); 20 by default.", valueName: "number"))
  var limit: Int?

  @Option(
    help: ArgumentHelp(
      "Show at most this many findings of each rule and host (table); 3 by default.",
      valueName: "number"))
  var examples: Int?

  func validate() throws {
    guard limit ?? 1 > 0 else { throw ValidationError("'--limit' must be at least 1.") }
    guard examples ?? 0 >= 0 else {
      throw ValidationError("'--examples' cannot be less than zero.")
    }
  }
}
