import Administration
import ArgumentParser
import Bytes
import Matching
import Rendering
import ResponseArchives
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin grep`: finds text in URLs, header fields and bodies.
  struct Grep: AllCachesCommand, SelectingCommand {
    static let configuration = CommandConfiguration(
      commandName: "grep",
      abstract: "Find text in URLs, header fields and bodies.",
      usage: "urlcache-admin grep [<options>] <pattern> [<cache>] [<url-or-id> ...]",
      discussion: """
        Bodies are decoded from gzip, zstd, br and deflate, converted to UTF-8 from
        the charset of Content-Type, and searched line by line. Offsets refer to this
        text. Bodies with other codings are not searched; a note shows how many there
        are. The output is 'ID URL: WHERE: OFFSET: LINE'; WHERE is url, request,
        request-body, response or body. Long lines are shortened to the part around
        the match. Matches in secrets count, but are shown as '***'.

        Exits with status 0 if there is a match, 1 if there is none, and 3 if there is
        a match but part of an entry could not be searched.
        """)

    @Argument(
      help: ArgumentHelp(
        "The text to find; with '-E', a regular expression.", valueName: "pattern"))
    var text: String?

    @OptionGroup var operands: CacheOperand
    @OptionGroup(title: "Search") var search: GrepOptions
    @OptionGroup(title: "Selection") var selection: SelectionOptions
    @OptionGroup(title: "Cache") var cache: CacheOptions
    @OptionGroup(title: "Cache") var scope: ScopeOptions
    @OptionGroup(title: "Output") var output: GrepOutputOptions
    @OptionGroup(title: "Output") var secrets: SecretOptions
    @OptionGroup(title: "Output") var formats: FormatOptions<GrepFormat>

    var format: GrepFormat { formats.format }
    var writesJSON: Bool { format == .json }

    /// The text to find, once the operands were taken.
    private var pattern: String { search.pattern.first ?? text ?? "" }

    func validate() throws {
      guard format != .json || output.part == .lines else {
        throw ValidationError(
          "'--format json' has all matches and counts; it cannot be combined with"
            + " '\(output.partOption)'.")
      }
    }

    mutating func takeOperands(in environment: CommandEnvironment) throws {
      if !search.pattern.isEmpty {
        // The operands begin with the cache.
        if text != nil, let next = operands.first { selection.entries.insert(next, at: 0) }
        operands.first = text
      } else if let text {
        try GrepOperands(text, operands.first, cache.cache).check(in: environment)
      } else {
        throw CommandFailure.usage(
          "no pattern given",
          hint: cache.cache == nil
            ? "give the text to find, and the cache: 'urlcache-admin grep TEXT CACHE'"
            : "'-c' names the cache; to count matches use '--count'")
      }
      try takeCacheOperand(in: environment)
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      let search = try entrySearch()
      let source = try cache.open(in: environment)
      let now = cache.now(in: environment)
      let selection = try selection.resolved(at: now, of: cache, from: source, in: environment)
      var listing = Listing(selection: selection, now: now)
      let run = GrepRun(
        search: search, format: format,
        renderer: GrepRenderer(
          part: output.part, secrets: secrets.policy,
          hasContext: search.before > 0 || search.after > 0,
          isTerminal: environment.isOutputTerminal),
        in: environment)
      try run.search(source, &listing)
      let help = try listing.absent.help(in: source, secrets.policy)
      try source.finish()
      try run.finish()
      let absence = listing.report(in: environment, secrets.policy)
      environment.report(help)
      return absence == .done ? run.status : absence
    }

    /// Creates the search that the options describe.
    private func entrySearch() throws(CommandFailure) -> EntrySearch {
      var result = EntrySearch(try textPattern())
      if let places = search.places { result.parts = places.parts }
      result.searchesBinary = search.binary || search.synonyms.binary
      result.numbersLines = format == .json
      result.passesText = ![.counts, .entries].contains(output.part)
      result.mostLines = search.maxCount.map { Int64($0) }
      // One match decides about an entry.
      if output.part == .entries { result.mostLines = 1 }
      if output.part == .lines {
        result.before = min(
          output.beforeContext ?? output.context ?? 0, GrepOutputOptions.mostContext)
        result.after = min(
          output.afterContext ?? output.context ?? 0, GrepOutputOptions.mostContext)
      }
      return result
    }

    private func textPattern() throws(CommandFailure) -> TextPattern {
      do throws(TextPattern.Failure) {
        return try TextPattern(
          pattern, isExpression: search.expression || search.synonyms.expression,
          ignoresCase: search.ignoreCase, matchesWords: search.word || search.synonyms.word)
      } catch {
        switch error {
        case .empty:
          throw .usage("the pattern is empty", hint: "a shell variable may be empty")
        case .lineBreak:
          throw .usage(
            "the pattern contains a line break, but lines are searched one by one",
            hint: "search for one line; '--contains' selects entries by text with line breaks")
        case .syntax(let error):
          let length = pattern.utf8.count
          let mark = min(error.offset, length)..<min(error.offset + 1, length)
          throw .usage(
            "the pattern is not a regular expression: \(error.reason)\n"
              + MarkedText.text(pattern, marking: mark),
            hint: "without '-E' it is literal text")
        }
      }
    }
  }
}

/// The output formats of `grep`.
enum GrepFormat: String, OutputFormat {
  case table, json
}
