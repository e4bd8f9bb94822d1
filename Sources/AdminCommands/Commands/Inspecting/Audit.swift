import Administration
import ArgumentParser
import Auditing
import Bytes
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
        about caching. The table ranks the hosts. Secrets are shown as '***', with
        their place and a fingerprint that is the same in every run.

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
      guard audit.writeBaseline == nil, ![.sarif, .markdown].contains(format) else {
        throw ValidationError(
          "'--all-caches' writes several documents, so it cannot be combined with"
            + " '--write-baseline', '--format sarif' or '--format markdown'.")
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
        keepsBaseline: target != nil, renderer: renderer(of: source.description, at: now),
        examples: self.output.examples, in: environment)
      try environment.showingProgress("Auditing entries", over: source) {
        try run.audit(source, &listing)
      }
      // Files and pages belong to no entry, so a selection of entries leaves them out.
      let isWhole = selection.isEmpty
      let orphans = isWhole ? try source.orphans(at: environment.now).files : []
      if isWhole { try run.auditFiles(of: source.description) }
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

    private func renderer(of store: StoreDescription, at now: Timestamp) -> AuditRenderer {
      AuditRenderer(
        format, secrets: secrets.policy, now: now, rules: audit.selectedRules, of: store,
        by: .init(name: "urlcache-admin", version: URLCacheAdmin.versionNumber),
        mostHosts: output.limit)
    }
  }
}

extension AuditRenderer.Format: OutputFormat {}
