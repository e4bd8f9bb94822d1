import Administration
import ArgumentParser
import Bytes
import HTTPCaching
import JSON
import Rendering
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin explain`: explains why entries are used or not.
  struct Explain: AllCachesCommand, SelectingCommand {
    static let configuration = CommandConfiguration(
      commandName: "explain",
      abstract: "Explain why entries are fresh or stale, and how a request would be answered.",
      discussion: """
        The request is the stored one, including the header fields that Vary names. On
        every platform, RFC 9111 determines whether an entry is fresh, stale or
        without a lifetime, as in all other commands. What happens next depends on the
        platform; 'explain' shows what was observed there. A Foundation cache ignores
        the scheme and the query of a URL, and so does this command.

        '--request-header "NAME: VALUE"' assumes this header field instead of the
        stored one, and 'NAME:' leaves it out; 'NAME=PATTERN' selects entries.

        POLICIES
          \(policyNames)
        """)

    @OptionGroup var operands: CacheOperand
    @OptionGroup(title: "Selection") var selection: SelectionOptions
    @OptionGroup(title: "Cache") var cache: CacheOptions
    @OptionGroup(title: "Cache") var scope: ScopeOptions
    @OptionGroup var inquiry: InquiryOptions
    @OptionGroup(title: "Output") var secrets: SecretOptions
    @OptionGroup(title: "Output") var terminal: TerminalOptions

    @Flag(help: "Explain all entries that match the other options.")
    var all = false

    @OptionGroup(title: "Output") var formats: FormatOptions<ExplanationFormat>

    @Option(
      help: ArgumentHelp(
        "Explain instead why there is no entry for this URL; exit with status 0 if it could be"
          + " stored, 1 if not, 3 if unknown.", valueName: "url"))
    var whyMissing: String?

    @Option(
      help: ArgumentHelp(
        "The response headers, as printed by 'curl -I'; '-' is standard input.",
        valueName: "file"),
      completion: .file())
    var headersFrom: String?

    var format: ExplanationFormat { formats.format }
    var inputs: [String] { selection.urlFile + (headersFrom.map { [$0] } ?? []) }
    var writesJSON: Bool { format == .json }
    var outputPurpose: OutputPurpose { .answer }

    func validate() throws {
      guard headersFrom == nil || whyMissing != nil else {
        throw ValidationError("'--headers-from' needs '--why-missing URL'.")
      }
    }

    /// The selection, without the fields to send.
    private var entries: SelectionOptions {
      var entries = selection
      entries.requestHeader.removeAll { if case .field = $0 { true } else { false } }
      return entries
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      let source = try cache.open(in: environment)
      let now = cache.now(in: environment)
      let selection = try entries.resolved(at: now, of: cache, from: source, in: environment)
      if let whyMissing {
        guard selection.isEmpty, !all else {
          throw CommandFailure.usage("'--why-missing' takes one URL and no entries")
        }
        let inquiry = try inquiry.resolved(
          at: now, of: source, selection.expiryRules, sending: self.selection.requestHeader.fields)
        return try explainMissing(ByteString(whyMissing), source, inquiry, environment)
      }
      guard all || !selection.isEmpty else {
        throw CommandFailure.usage(
          "no entries selected", hint: "give URLs or ids, options such as '--stale', or '--all'")
      }
      var listing = Listing(selection: selection, now: now)
      var inquiry = try inquiry.resolved(
        at: now, of: source, selection.expiryRules, sending: self.selection.requestHeader.fields)
      // A store with keys of its own may return an entry for another URL.
      if source.description.traits.shownKey != nil { inquiry.names = selection.names }
      let verdicts = try write(source, &listing, inquiry, environment)
      // Before the source is closed, because it reads the URLs in it.
      let help = try listing.absent.help(in: source, secrets.policy)
      try source.finish()
      let absence = listing.report(in: environment, secrets.policy)
      // After the absent names, which it refers to.
      environment.report(help)
      return absence == .done ? verdicts.status : absence
    }

    private func write(
      _ source: any ResponseSource, _ listing: inout Listing, _ inquiry: Inquiry,
      _ environment: CommandEnvironment
    ) throws -> VerdictCounts {
      let renderer = ExplanationRenderer(secrets: secrets.policy)
      var text = TextBuffer(style: environment.outputStyle)
      var json: JSONStream?
      if format == .json {
        json = renderer.beginJSON(of: source.description, asking: inquiry, into: &text)
        try environment.write(text.bytes)
      }
      let classes = try cache.classes(at: inquiry.now, in: environment)
      let writer = ExplanationWriter(
        asking: inquiry, by: classes, renderer, format, in: json, style: environment.outputStyle
      ) { part in
        try environment.write(part.bytes)
      }
      let projection = listing.selection.projection.union(Explanation.projection)
        .union(classes.projection).union(.requestHeaders)
      func explain() throws {
        try listing.scan(source, projection) { response in
          // What a page loaded answers no request.
          if response.isResponse { try writer.insert(response) }
        }
        try writer.finish()
      }
      // On a terminal, the explanations themselves show the progress.
      if environment.isOutputTerminal {
        try explain()
      } else {
        try environment.showingProgress("Explaining entries", over: source, explain)
      }
      let verdicts = writer.verdicts
      if var json = writer.json {
        text.removeAll()
        renderer.endJSON(&json, verdicts.byState, into: &text)
        try environment.write(text.bytes)
      }
      // Exit status 0 with no output would otherwise be read as "all fresh".
      if verdicts.isEmpty, listing.absent.isEmpty { environment.note("no entries selected") }
      return verdicts
    }
  }
}

/// The output formats of `explain`.
enum ExplanationFormat: String, OutputFormat {
  case table, json, ndjson
}

/// The numbers and names of all policies, one per line.
private let policyNames = RequestCachePolicy.names.map { "\($0.policy.rawValue) \($0.name)" }
  .joined(separator: "\n  ")

extension URLCacheAdmin.Explain {
  /// The maximum size of a response head, in bytes; enough for many cookies.
  private static let largestHead = 1 << 20

  /// Explains why there is no entry for a URL.
  func explainMissing(
    _ url: ByteString, _ source: any ResponseSource, _ inquiry: Inquiry,
    _ environment: CommandEnvironment
  ) throws -> ExitStatus {
    // Every text is missing from a cache. Without a scheme it is more likely a path or an id than a
    // URL.
    guard CanonicalURL.scheme(of: url) != nil else {
      throw CommandFailure.usage(
        "'\(whyMissing ?? "")' is not a URL", hint: "use a full URL such as 'https://example.com/a'"
      )
    }
    let head = try headersFrom.map { try readHead(in: $0, environment) }
    let missing = try MissingResponse(of: url, head: head, in: source, asking: inquiry)
    try source.finish()
    let renderer = MissingResponseRenderer(secrets: secrets.policy)
    var output = OutputBuffer(environment)
    switch format {
    case .table: renderer.appendText(missing, into: &output.text)
    case .json, .ndjson: renderer.appendJSON(missing, into: &output.text)
    }
    try output.flush()
    if format == .table {
      suggestNext(after: missing, url, cacheAt: source.description.path, in: environment)
    }
    // The question was answered: it is not missing.
    if !missing.present.isEmpty { return .done }
    return switch missing.wouldBeStored {
    case true?: .done
    case false?: .no
    case nil: .partly
    }
  }

  /// Suggests the command that answers the question, if this one could not.
  private func suggestNext(
    after missing: MissingResponse, _ url: ByteString, cacheAt path: String,
    in environment: CommandEnvironment
  ) {
    if let id = missing.present.first {
      environment.suggest("explain the entry with", ["explain", "-c", path, id.short])
    } else if missing.wouldBeStored == nil, headersFrom == nil, environment.suggests {
      let word = ShellText.word(url)
      let cache = ShellText.option("-c", "--cache", path)
      environment.hint(
        "get the response headers with: curl -sI \(word) | urlcache-admin explain \(cache)"
          + " --why-missing \(word) --headers-from -")
    }
  }

  private func readHead(
    in name: String, _ environment: CommandEnvironment
  ) throws -> ResponseHead {
    let bytes = try environment.inputs.text(of: name, upTo: Self.largestHead)
    guard bytes.count <= Self.largestHead, let head = ResponseHead(bytes) else {
      throw CommandFailure(
        .data, kind: "not-a-head", "'\(name)' does not start with response headers",
        hint: "save them with 'curl -sI URL > FILE'", path: name)
    }
    return head
  }
}
