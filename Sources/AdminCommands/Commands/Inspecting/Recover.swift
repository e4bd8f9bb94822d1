import Administration
public import ArgumentParser
import Bytes
import Rendering
import ResponseArchives
public import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin recover`: lists entries that a cache no longer has, and writes them to an archive.
  struct Recover: SelectingCommand {
    static let configuration = CommandConfiguration(
      commandName: "recover",
      abstract: "Find entries that were removed, or that are in a damaged database.",
      discussion: """
        SQLite leaves removed rows in its files until it needs the space. This command
        reads the pages of a Cache.db directly: free pages, the space between rows,
        the write-ahead log including what is left of earlier transactions, and the
        rollback journal. It never changes the cache. In a WebKit cache, it finds
        bodies without a record, and URLs that a page loaded but that have no record;
        some of those were never stored. Foundation caches keep no removed entries.
        'purge' zeroes the rows that it removes, though older copies can remain; use
        its '--backup' to keep a copy. 'compact --secure' overwrites everything that
        this command could find.

        CONFIDENCE
          complete        request, response and body
          body-uncertain  request and response, and a body that may belong to another
                          version of the entry (see '--uncertain-bodies')
          body-missing    request and response
          only-url        the URL, and perhaps when it was first stored
          only-body       the body, and perhaps its URL; the column 'found' names its file

        A removed entry is listed once, in its newest version, unless the cache has an
        entry for its URL. '--versions' lists all versions, including versions of
        entries that the cache still has.

        Make a new cache from what a damaged one still contains:

          urlcache-admin recover --damaged OLD/Cache.db -o found.tar
          urlcache-admin import found.tar -c NEW/Cache.db
        """)

    @OptionGroup var operands: CacheOperand
    @OptionGroup(title: "Selection") var selection: SelectionOptions

    @Option(help: "Only entries with this confidence: \(Self.confidences).")
    var confidence: [RecoveryConfidence] = []

    @Flag(help: "List all versions of entries, including those that the cache still has.")
    var versions = false

    @Flag(help: "Read a damaged database, and list all entries in it, not only removed ones.")
    var damaged = false

    @Flag(help: "Include bodies that may belong to another version of the entry.")
    var uncertainBodies = false

    @OptionGroup(title: "Cache") var cache: CacheOptions

    @Option(
      name: [.short, .long],
      help: ArgumentHelp(
        "Write the entries to a new native archive (.tar, .tar.zst, .tar.gz, .zip); '-' is"
          + " standard output.", valueName: "file"),
      completion: .file(extensions: ExportFormat.extensions(where: \.isNative)))
    var output: String?

    @Flag(help: "Replace an existing file.")
    var force = false

    @OptionGroup(title: "Output") var secrets: SecretOptions
    @OptionGroup(title: "Output") var formats: FormatOptions<ListFormat>

    @Option(
      help: ArgumentHelp(
        "The columns, separated by commas: the columns of 'list', 'confidence' and 'found'.",
        valueName: "columns"),
      transform: parseRecoveredColumns)
    var columns: [EntryField]?

    @Option(
      name: [.customShort("n"), .long],
      help: ArgumentHelp("Show at most this many entries.", valueName: "number"))
    var limit: Int?

    private static let confidences = RecoveryConfidence.allCases.map(\.rawValue)
      .joined(separator: ", ")

    private var format: ListFormat { formats.format }
    var outputs: [String] { output.map { [$0] } ?? [] }
    var writesJSON: Bool { output == nil && format == .json }

    func validate() throws {
      if let limit, limit < 0 { throw ValidationError("'--limit' cannot be less than zero.") }
      guard format != .ncdu else {
        throw ValidationError("'recover' does not support '--format ncdu'.")
      }
      guard columns == nil || format != .urls else {
        throw ValidationError("'--format urls' and '--columns' cannot be combined.")
      }
      guard output == nil || format == .table && columns == nil && limit == nil else {
        throw ValidationError("'--output' cannot be combined with options for a list.")
      }
      guard output != nil || !force else { throw ValidationError("'--force' needs '--output'.") }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      let format = try output.map(archiveFormat)
      let path = try cache.path(in: environment)
      var options = RemovedEntriesOptions()
      options.isDamaged = damaged
      options.withVersions = versions && output == nil
      options.withUncertainBodies = uncertainBodies
      let source = try environment.openRemains(path, cache.waitMilliseconds, options)
      for note in source.description.notes { environment.note(note) }
      if let damage = source.damage {
        guard source.searched != nil else { throw damage }
        environment.note("SQLite cannot read the database: \(damage)")
      }
      let now = cache.now(in: environment)
      let selection = try selection.resolved(at: now, of: cache, from: source, in: environment)
      var listing = Listing(selection: selection, now: now)
      if let output, let format {
        return try write(source, selection, now, format, to: output, environment)
      }
      try list(source, &listing, now, environment)
      return listing.report(in: environment, secrets.policy)
    }

    private static let damagedHint =
      "if the database is damaged, add '--damaged' to look for all entries, not only for removed ones"

    private func list(
      _ source: any RemovedEntries, _ listing: inout Listing, _ now: Timestamp,
      _ environment: CommandEnvironment
    ) throws {
      let facts = RecoveredFacts()
      let standard =
        format == .table
        ? EntryField.standardRecovered
        : format.standardColumns + (format == .urls ? [] : EntryField.recoveredColumns)
      let columns = columns ?? standard
      var context = EntryContext(now: now, expiryRules: listing.selection.expiryRules)
      context.recovered = facts
      var renderer = format.makeRenderer(
        columns: columns, secrets: secrets.policy, context: context, store: source.description,
        schema: "recover",
        terminalWidth: environment.terminalWidth
      ).renderer
      var output = OutputBuffer(environment)
      renderer.begin(into: &output.text)
      var (shown, selected): (Int64, Int64) = (0, 0)
      var bodyBytes: ByteCount = 0
      try listing.scan(source, columns.projection.union([listing.selection.projection, .body])) {
        guard isWanted(try facts.read($0.id, from: source)) else { return }
        selected += 1
        if let limit, shown >= limit { return }
        shown += 1
        bodyBytes += $0.bodySize ?? 0
        renderer.render($0, into: &output.text)
        try output.flushIfLarge()
      }
      // Before the end of the document: what was read of a cache that changed meanwhile may belong to no state of it.
      try source.finish()
      let summary = ListSummary(
        shown: shown, selected: selected, total: source.count(), bodyBytes: bodyBytes)
      renderer.finish(summary: summary, into: &output.text)
      try output.flush()
      environment.inform("\(summary.recoveredText)\n")
      if selected == 0 { noteNothing(in: source, environment) }
    }

    private func noteNothing(in source: any RemovedEntries, _ environment: CommandEnvironment) {
      guard let searched = source.searched else { return }
      environment.note(searched)
      if !damaged, source.description.traits.hasDatabase { environment.note(Self.damagedHint) }
    }

    /// Writes an archive, which appears complete or not at all.
    private func write(
      _ source: any RemovedEntries, _ selection: Selection, _ now: Timestamp,
      _ format: ExportFormat,
      to output: String, _ environment: CommandEnvironment
    ) throws -> ExitStatus {
      try source.refuseReplacement(by: output)
      var export = ArchiveExport(
        format, generatorVersion: URLCacheAdmin.versionNumber)
      export.isSelection = true
      export.bodies = .recovered
      var absent = selection.names ?? EntryNames()
      var (leftOut, uncertain) = (0, 0)
      let target = try ArchiveOutput(path: output, isForced: force, environment)
      let summary = try export.run(
        on: source, selection.projection,
        where: { response in
          absent.remove(response)
          let fact = try source.fact(of: response.id)
          guard isWanted(fact), try selection.contains(response, now: now) else { return false }
          let confidence = fact?.confidence
          if confidence == .bodyUncertain { uncertain += 1 }
          // Without a response there is nothing that a cache could store.
          let hasResponse = confidence != .onlyURL && confidence != .onlyBody
          if !hasResponse { leftOut += 1 }
          return hasResponse
        }, writing: { try target.write($0) })
      try source.finish()
      // An empty archive would look like a success to a script, and `import` would find nothing in it.
      let isWritten = summary.entries > 0 || output == "-"
      if isWritten { try target.commit() }
      environment.note(
        isWritten
          ? Self.receipt(of: summary, in: output)
          : "nothing was written to '\(output)', because"
            + (leftOut > 0 ? " no whole entry was found" : " no entry was found"))
      if !isWritten, leftOut == 0 { noteNothing(in: source, environment) }
      if summary.missingBodies > 0 {
        environment.note(
          "entries without a body, which 'import' skips: "
            + QuantityWords.grouped(summary.missingBodies)
        )
      }
      if leftOut > 0 {
        environment.note(
          "entries not in the archive because only their URL or their body is left: \(leftOut)")
      }
      for omission in summary.omissions {
        environment.note(omission.words("was skipped", "were skipped"))
      }
      if !uncertainBodies, uncertain > 0, output != "-" {
        let bodies = QuantityWords.counted(uncertain, "body", "bodies")
        environment.hint(
          "\(bodies) may belong to another version of \(uncertain == 1 ? "its" : "their") entry;"
            + " include \(uncertain == 1 ? "it" : "them") with:"
            + " \(withUncertainBodies(environment.words))")
      }
      if isWritten, summary.entries > summary.missingBodies, output != "-" {
        environment.hint(nextStep(from: source.description.path, output))
      }
      guard absent.isEmpty else { return environment.report(absent: absent, secrets.policy) }
      return !isWritten ? .no : summary.omissions.isEmpty ? .done : .partly
    }

    private static func receipt(
      of summary: ArchiveExport.Summary, in output: String
    ) -> String {
      let entries = QuantityWords.counted(summary.entries, "entry", "entries")
      return "recovered \(entries) to \(output == "-" ? "the archive" : "'\(output)'"), with"
        + " \(ByteSizeText.text(summary.bodyBytes)) of bodies, including cookies and tokens"
    }

    /// Returns the same command line with uncertain bodies, which replaces the archive.
    private func withUncertainBodies(_ words: [String]) -> String {
      let options = words.prefix { $0 != "--" }
      return OptionHints.commandLine(
        options + ["--uncertain-bodies"] + (force ? [] : ["--force"])
          + words.dropFirst(options.count))
    }

    /// Returns the command that imports the archive.
    private func nextStep(from path: String, _ archive: String) -> String {
      let line = { OptionHints.commandLine(["import", archive, "-c", $0]) }
      return damaged
        ? "import them into a new cache with: \(line(RepairHint.newCache(insteadOf: path)))"
        : "put them back with: \(line(path))"
    }

    private func isWanted(_ fact: RecoveredFact?) -> Bool {
      guard !confidence.isEmpty else { return true }
      return fact.map { confidence.contains($0.confidence) } ?? false
    }

    private func archiveFormat(of path: String) throws(CommandFailure) -> ExportFormat {
      let format = path == "-" ? .tarZstd : ExportFormat(ofFileNamed: path)
      guard let format, format.isNative else {
        let endings = ExportFormat.endingsInWords(ExportFormat.allCases.filter(\.isNative))
        throw .usage(
          "'\(path)' is not the name of a native archive", hint: "end it with \(endings)")
      }
      return format
    }
  }
}

extension RecoveryConfidence: ExpressibleByArgument {}

/// Parses comma-separated columns of recovered entries.
private func parseRecoveredColumns(_ text: String) throws -> [EntryField] {
  try parseColumns(text, adding: EntryField.recoveredColumns)
}
