import Administration
public import ArgumentParser
public import Rendering
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin list`: one line for each selected entry.
  struct List: AdminCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "List the entries of a cache.",
      discussion: """
        COLUMNS
          \(columnLines)

          user-info:KEY and proto-props:KEY show what is under a key; in it '\\,' is a
          comma.

        BROWSE
          'list --format ncdu | ncdu -f -' shows hosts, folders and entries by size.
          The tree is kept in memory until its end, about 100 bytes an entry and 256
          MiB in all; entries that have no room are summed up as 'others'.

        EXIT STATUS
          0 done · 1 a named URL or id is not there · 64 · 65 · 66 · 74 · 75 · 77
        """,
      aliases: ["ls"])

    @OptionGroup(title: "Selection") var selection: SelectionOptions
    @OptionGroup(title: "Cache") var cache: CacheOptions
    @OptionGroup var secrets: SecretOptions

    @Option(help: "How to write the entries: table, json, ndjson, csv, tsv, urls, ncdu.")
    var format = ListFormat.table

    @Option(
      help: ArgumentHelp("The columns, separated by commas.", valueName: "columns"),
      completion: .requested,
      transform: parseColumns)
    var columns: [Column]?

    @Option(
      parsing: .unconditional,
      help: ArgumentHelp(
        "Sort by this column, with '-' before it from the largest down.", valueName: "column"),
      completion: .requested,
      transform: ResponseOrder.init(parsing:))
    var sort: ResponseOrder?

    @Option(help: ArgumentHelp("Stop after this many entries.", valueName: "number"))
    var limit: Int?

    @Flag(help: "Print only the number of selected entries.")
    var count = false

    var writesJSON: Bool { format == .json }

    func validate() throws {
      if let limit, limit < 0 { throw ValidationError("'--limit' cannot be less than zero.") }
      guard columns == nil || (format != .urls && format != .ncdu) else {
        throw ValidationError(
          "'--format \(format.rawValue)' has no columns: leave '--columns' out.")
      }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      let source = try cache.open(in: environment)
      let now = cache.now(in: environment)
      let selection = try selection.resolved(at: now, in: environment)
      var listing = Listing(selection: selection, now: now, limit: limit)
      if count {
        try listing.scan(source, selection.projection) { _ in }
        try environment.write(Array("\(listing.shown)\n".utf8))
      } else {
        try write(source, &listing, now, environment)
      }
      try source.finish()
      return listing.report(in: environment, secrets.policy)
    }

    private func write(
      _ source: any ResponseSource, _ listing: inout Listing, _ now: Timestamp,
      _ environment: CommandEnvironment
    ) throws {
      var renderer = format.makeRenderer(
        columns: columns, secrets: secrets.policy, now: now,
        expiryRules: listing.selection.expiryRules, store: source.description,
        terminalWidth: environment.terminalWidth)
      var projection = (columns ?? format.standardColumns).projection
      projection.formUnion([listing.selection.projection, .body])
      var output = OutputBuffer(environment)
      renderer.begin(into: &output.text)
      if let sort {
        var sorted = SortedResponses(
          by: sort, limit: limit, now: now, expiryRules: listing.selection.expiryRules)
        listing.limit = nil
        try listing.scan(source, projection.union(sort.projection)) { sorted.insert($0) }
        listing.shown = 0
        listing.bodyBytes = 0
        for response in sorted.finished() {
          listing.count(response)
          renderer.render(response, into: &output.text)
          try output.flushIfLarge()
        }
      } else if let renderer = renderer as? any LineRenderer, limit == nil,
        listing.selection.isEmpty
      {
        try output.flush()
        try source.forEachPortion(projection, startingWith: ListedLines(renderer), in: .ascending) {
          lines in
          try environment.write(lines.text.bytes)
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
      let total = try listing.wasStopped ? source.count() : listing.seen
      let summary = ListSummary(shown: listing.shown, total: total, bodyBytes: listing.bodyBytes)
      renderer.finish(summary: summary, into: &output.text)
      try output.flush()
      environment.writeMessage(
        "\(summary.shown) of \(summary.total) entries, \(ByteSizeText.text(summary.bodyBytes))\n")
    }
  }
}

extension ListFormat: ExpressibleByArgument {}

/// The names of all columns, in lines of 79 columns with the two that they are indented by.
private let columnLines = Column.all.compactMap(\.name.string)
  .reduce(into: [String]()) { lines, name in
    if let line = lines.last, line.utf8.count + name.utf8.count < 77 {
      lines[lines.count - 1] = "\(line) \(name)"
    } else {
      lines.append(name)
    }
  }
  .joined(separator: "\n  ")
