import Administration
import ArgumentParser
import Bytes
public import Rendering
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin list`: lists the selected entries, one per line.
  struct List: AllCachesCommand, SelectingCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "List the entries of a cache.",
      discussion: """
        On a terminal, text in the table is shortened to fit the width; elsewhere,
        URLs are complete. JSON is one object, NDJSON an object for each entry:

          urlcache-admin list CACHE --json | jq -r '.entries[].url'
          urlcache-admin list CACHE --format ndjson | jq -r .url

        COLUMNS
          \(columnLines)

          user-info:KEY and proto-props:KEY show the value of a key; write '\\,' for a
          comma in the key.

        BROWSE
          'list --format ncdu | ncdu -f -' shows hosts, folders and entries by size.
          The tree needs about 100 bytes of memory per entry, 256 MiB at most; entries
          beyond that are added up as 'others'.
        """,
      aliases: ["ls"])

    @OptionGroup var operands: CacheOperand
    @OptionGroup(title: "Selection") var selection: SelectionOptions
    @Flag(help: "Only pinned entries; see 'urlcache-admin pin'.")
    var pinned = false

    @OptionGroup(title: "Cache") var cache: CacheOptions
    @OptionGroup(title: "Cache") var scope: ScopeOptions
    @OptionGroup(title: "Output") var secrets: SecretOptions
    @OptionGroup(title: "Output") var sidecars: SidecarOptions
    @OptionGroup(title: "Output") var terminal: TerminalOptions

    @Option(
      help: ArgumentHelp(
        "Run the saved query with this name from the configuration; '--where', '--sort' and"
          + " '--columns' override it.", valueName: "name"))
    var saved: String?

    @OptionGroup(title: "Output") var formats: FormatOptions<ListFormat>

    @Option(
      help: ArgumentHelp("The columns, separated by commas, or 'all'.", valueName: "columns"),
      completion: .requested,
      transform: parseColumns)
    var columns: [EntryField]?

    @Flag(
      help: "Show more columns, and URLs in full, even if lines become wider than the terminal.")
    var wide = false

    @Option(
      parsing: .unconditional,
      help: ArgumentHelp(
        "Sort by this column, smallest first; '--sort=-size' lists the largest first.",
        valueName: "column"),
      completion: .requested,
      transform: ResponseOrder.init(parsing:))
    var sort: ResponseOrder?

    @Flag(help: "Reverse the order.")
    var reverse = false

    @Option(
      name: [.customShort("n", allowingJoined: true), .long],
      help: ArgumentHelp(
        "Show at most this many entries.", valueName: "number"))
    var limit: Int?

    @Flag(help: "Print only the number of selected entries.")
    var count = false

    var format: ListFormat { formats.format }
    var writesJSON: Bool { format == .json }

    func validate() throws {
      try sidecars.check(with: scope)
      if let limit, limit < 0 { throw ValidationError("'--limit' cannot be less than zero.") }
      guard !wide || format == .table else {
        throw ValidationError(
          "'--wide' is for the table: choose the columns of other formats with '--columns'.")
      }
      guard columns == nil || (format != .urls && format != .ncdu) else {
        throw ValidationError(
          "'--format \(format.rawValue)' and '--columns' cannot be combined.")
      }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      // Options override the saved query.
      guard let saved else { return try ordered().list(in: environment) }
      let query = try environment.configuration.query(named: saved)
      var command = self
      // All or none of the saved conditions: adding to them would make it hard to tell what is
      // listed.
      if selection.conditions.isEmpty {
        command.selection.conditions = query.conditions.map(\.text)
      }
      command.sort = try sort ?? query.sort.map { try ResponseOrder(parsing: $0.text) }
      if columns == nil, format != .urls, format != .ncdu, let saved = query.columns {
        command.columns = try parseColumns(saved.text)
      }
      return try command.ordered().list(in: environment)
    }

    /// Returns the command with the effective order.
    private func ordered() -> List {
      guard reverse else { return self }
      var command = self
      command.sort = (sort ?? .byID).reversed
      return command
    }

    private func list(in environment: CommandEnvironment) throws -> ExitStatus {
      try requireSidecars()
      let source = try cache.open(in: environment)
      let now = cache.now(in: environment)
      let tags = try sidecars.open().map(SidecarTags.init)
      var selection = try selection.resolved(at: now, of: cache, from: source, in: environment)
      if pinned { selection.pins = try pins(in: environment) }
      var listing = Listing(selection: selection, now: now, limit: limit)
      if count {
        try listing.countSelected(in: source)
        try source.finish()
        try environment.write(Array("\(listing.shown)\n".utf8))
      } else {
        try write(source, &listing, now, tags, environment)
        if listing.shown == 0, limit != 0 {
          try environment.report(valuesAbsentFrom: source, selection)
          suggestOtherParts(in: environment)
        }
      }
      try source.finish()
      return listing.report(in: environment, secrets.policy)
    }

    /// Rejects sidecars without a column that uses them, and such a column without sidecars.
    private func requireSidecars() throws(CommandFailure) {
      let needsSidecars =
        columns?.contains(where: \.needsSidecars) ?? false || sort?.column.needsSidecars ?? false
      if needsSidecars, sidecars.sidecars == nil {
        throw .usage(
          "the column 'sidecar-etag' needs sidecar files",
          hint: "give their folder with '--sidecars'")
      }
      if !needsSidecars, sidecars.sidecars != nil {
        throw .usage(
          "'--sidecars' needs the column 'sidecar-etag'", hint: "add '--columns sidecar-etag'")
      }
    }

    /// Returns the pins; notes if there are none, which the user hardly meant to select.
    private func pins(in environment: CommandEnvironment) throws -> EntryNames {
      let pins = try cache.pins(in: environment)
      if pins.isEmpty { environment.note("no URLs are pinned in this cache") }
      return pins
    }

    private func write(
      _ source: any ResponseSource, _ listing: inout Listing, _ now: Timestamp,
      _ tags: SidecarTags?, _ environment: CommandEnvironment
    ) throws {
      let columns = self.columns ?? (wide ? EntryField.wide : nil)
      var context = EntryContext(now: now, expiryRules: listing.selection.expiryRules)
      context.sidecars = tags
      let kind = format.makeRenderer(
        columns: columns, secrets: secrets.policy, context: context, store: source.description,
        terminalWidth: wide ? nil : environment.terminalWidth)
      var renderer = kind.renderer
      var projection = (columns ?? format.standardColumns).projection
      projection.formUnion([listing.selection.projection, .body])
      var output = OutputBuffer(environment)
      renderer.begin(into: &output.text)
      var sorted: Int64?
      if let sort {
        sorted = try listing.scanSorted(source, projection, by: sort.resolved(in: context)) {
          response in
          renderer.render(response, into: &output.text)
          try output.flushIfLarge()
        }
      } else if case .lines(let lineRenderer) = kind, limit == nil, listing.selection.isEmpty {
        // Without a selection, the threads that read the store can render the lines, too.
        let request = ScanRequest(projection, in: .ascending)
        try source.scan(request, into: ListedLines(lineRenderer)) { lines in
          output.text.append(contentsOf: lines.text.bytes)
          try output.flushIfLarge()
          listing.count(lines)
          lines.removeAll()
          return .next
        }
      } else {
        try listing.scan(source, projection) { response in
          renderer.render(response, into: &output.text)
          try output.flushIfLarge()
        }
      }
      // Counting a million entries takes much longer than reading fifty, so it is left out where
      // nobody sees the number.
      var summary =
        try format == .json || !environment.isQuiet
        ? listing.summary(of: source, sorted: sorted, exact: format == .json)
        : ListSummary(
          shown: listing.shown, selected: listing.seen, total: listing.seen,
          bodyBytes: listing.bodyBytes)
      summary.first = sort?.first
      renderer.finish(summary: summary, into: &output.text)
      // Before the last lines, which often are all: a cache that has changed is listed again if nothing was written.
      try source.finish()
      try output.flush()
      // On standard error: a summary below the rows would be another row to a program.
      environment.inform(summary.text + "\n")
      // Most people who sort by size want to see the largest entries.
      if summary.shown < summary.selected, !reverse, let hint = sort?.hint {
        environment.hint(hint)
      }
    }
  }
}

extension ListFormat: OutputFormat {}

/// The names of all columns, in lines of at most 79 columns including an indent of two.
private let columnLines = EntryField.columns.map(\.name)
  .reduce(into: [String]()) { lines, name in
    if let line = lines.last, line.utf8.count + name.utf8.count < 77 {
      lines[lines.count - 1] = "\(line) \(name)"
    } else {
      lines.append(name)
    }
  }
  .joined(separator: "\n  ")

extension URLCacheAdmin.List {
  /// The header fields that only requests have.
  private static let requestFields: Set<ByteString> = [
    "authorization", "proxy-authorization", "cookie", "accept", "accept-language", "user-agent",
    "referer", "origin", "if-none-match", "if-modified-since",
  ]

  /// Suggests to look in other parts of the entries, if a text or a header field selected nothing.
  func suggestOtherParts(in environment: CommandEnvironment) {
    if let text = selection.contains.first, text.utf8.first != UInt8(ascii: "-") {
      let words = ["grep", text] + (cache.cache.map { [$0] } ?? [])
      environment.hint(
        "search URLs and header fields, too, with: \(OptionHints.commandLine(words))")
    }
    let isOfRequests = selection.header.contains {
      Self.requestFields.contains($0.name.asciiLowercased)
    }
    if isOfRequests, environment.words.contains("--header") {
      let words = environment.words.map { $0 == "--header" ? "--request-header" : $0 }
      environment.hint("select by request header fields with: \(OptionHints.commandLine(words))")
    }
  }
}
