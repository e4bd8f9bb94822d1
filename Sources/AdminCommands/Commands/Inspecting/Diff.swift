import Administration
import ArgumentParser
import Bytes
import Rendering
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin diff`: shows the differences between two caches.
  struct Diff: ConfiguredCommand {
    static let configuration = CommandConfiguration(
      commandName: "diff",
      abstract: "Compare two caches or archives.",
      usage: "urlcache-admin diff [<options>] <first> <second> [<entries> ...]",
      discussion: """
        '+' marks entries only in the second, '-' only in the first, '~' entries that
        differ. Entries are matched by key; ids and the locations of bodies are
        ignored. The parts that differ follow in parentheses: 'body'; 'headers',
        including the status; 'validators' (ETag and Last-Modified); or 'other' (the
        request, the times, the storage policy, the partition, and properties that the
        app attached). '--detail' shows the values.

        Between two formats, only what both caches can store is compared.

        Ids select entries of the first cache, and entries of the second cache that
        have the same URLs.
        """)

    @Argument(help: "The first cache or archive.", completion: .file())
    var first: String

    @Argument(help: "The second cache or archive.", completion: .file())
    var second: String

    @OptionGroup(title: "Selection") var selection: SelectionOptions
    @OptionGroup(title: "Cache") var opening: OpeningOptions
    @OptionGroup(title: "Output") var secrets: SecretOptions
    @OptionGroup(title: "Output") var terminal: TerminalOptions

    @Option(help: "What to compare: body, headers (of responses), all.")
    var by = ComparisonBasis.all

    @Flag(
      name: [.customLong("json-normalize"), .customLong("json-normalise")],
      help: """
        Treat bodies as equal if they are the same JSON, because apps may re-encode JSON \
        before storing it.
        """)
    var jsonNormalize = false

    @Flag(help: "Show only how many entries differ.")
    var stat = false

    @Flag(help: "Show what changed in each entry: status, sizes, times, header fields.")
    var detail = false

    @Flag(help: "Also compare text bodies line by line, as 'diff -u' does. Implies '--detail'.")
    var bodies = false

    @OptionGroup(title: "Output") var formats: FormatOptions<ChangeFormat>

    /// The options without the path of a cache, because the operands name two.
    var cache: CacheOptions {
      get { CacheOptions(opening) }
      set { opening = newValue.opening }
    }

    var format: ChangeFormat { formats.format }
    var inputs: [String] { selection.urlFile }

    /// The first one that does not belong to root: its owner may not be able to read the other one.
    func workedPath(in environment: CommandEnvironment) throws -> String? {
      let paths = [first, second].map { environment.configuration.path(ofCache: $0)?.text ?? $0 }
      return try paths.first { try environment.isolation?($0) != nil } ?? first
    }

    var writesJSON: Bool { format == .json }
    var outputPurpose: OutputPurpose { .answer }

    func validate() throws {
      // A third path is no name of an entry.
      guard selection.entries.allSatisfy({ (try? EntryNames.Name(written: $0)) != nil }) else {
        throw ValidationError("'diff' takes two paths; URLs and ids after them select entries.")
      }
      guard !stat || !(detail || bodies) else {
        throw ValidationError(
          "'--stat' and '\(bodies ? "--bodies" : "--detail")' cannot be combined.")
      }
    }

    mutating func takeOperands(in environment: CommandEnvironment) throws {
      for operand in [first, second] {
        try environment.refuseTwoMeanings(of: operand) { ShellText.word(ByteString($0)) }
      }
      first = try environment.cacheToRead(first)
      second = try environment.cacheToRead(second)
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      let now = cache.now(in: environment)
      try selection.refuseSuperseded()
      var selected = try selection.parsed(at: now, of: nil, in: environment)
      let (first, second) = (try open(first, environment), try open(second, environment))
      // Which bodies contain a text is known for one cache only, and so are short ids.
      let written = selected
      try selected.prepare(for: first, at: now, in: environment)
      var (others, absentIDs) = (written, EntryNames())
      (others.names, absentIDs) = try otherNames(like: selected.names, in: first)
      try others.prepare(for: second, at: now, in: environment)
      let comparison = try environment.showingProgress(
        "Comparing entries", of: CommandEnvironment.total(of: [first, second])
      ) {
        try StoreComparison(
          of: first, with: second, by: by.aspects, normalizingJSON: jsonNormalize,
          selecting: selected, amongOthers: others, now: now)
      }
      try write(comparison, of: first, with: second, now, environment)
      let absentURLs = try absentURLs(of: others, in: [first, second])
      try first.finish()
      try second.finish()
      if comparison.leftOut > 0 {
        environment.note("skipped entries that cannot be read: \(comparison.leftOut)")
      }
      if comparison.isReduced {
        environment.note(
          "not compared, because a Foundation cache does not store them: requests, first-stored"
            + " times, partitions and protocol properties")
      }
      var absence = environment.report(absent: absentIDs, secrets.policy)
      if environment.report(absent: absentURLs, secrets.policy) == .no { absence = .no }
      return comparison.differences.isEmpty ? absence : .no
    }

    /// Returns the names for the second cache, in which the entries named by ids have other ids, and the ids that no entry of
    /// the first cache has.
    private func otherNames(
      like given: EntryNames?, in first: any ResponseSource
    ) throws -> (EntryNames?, absent: EntryNames) {
      var absent: [EntryNames.Name] = []
      let ids = given?.names.compactMap { if case .id(let id) = $0 { id } else { nil } }
      var urls: [StoredResponse.ID: ByteString] = [:]
      try first.forEachResponse(of: ids?.sorted() ?? [], [.url, .key]) { entry in
        urls[entry.id] = entry.url ?? entry.key
        return .next
      }
      let names = given?.names.map { name -> EntryNames.Name in
        guard case .id(let id) = name else { return name }
        guard let url = urls[id] else {
          absent.append(name)
          return name
        }
        return .url(url)
      }
      return (names.map { EntryNames($0.filter { !absent.contains($0) }) }, EntryNames(absent))
    }

    /// Returns the URLs of a selection that no entry of any of the caches has.
    private func absentURLs(
      of selection: Selection, in sources: [any ResponseSource]
    ) throws -> EntryNames {
      var absent = selection.names ?? EntryNames()
      for source in sources where !absent.isEmpty {
        try source.scan(absent.projection) { response in
          absent.remove(response)
          return absent.isEmpty ? .stop : .next
        }
      }
      return absent
    }

    private func write(
      _ comparison: StoreComparison, of first: any ResponseSource,
      with second: any ResponseSource, _ now: Timestamp, _ environment: CommandEnvironment
    ) throws {
      var renderer = ComparisonRenderer(secrets: secrets.policy, now: now)
      renderer.isReduced = comparison.isReduced
      var output = OutputBuffer(environment)
      if format == .json {
        renderer.beginJSON(
          comparison, of: first.description, second.description, into: &output.text)
      }
      let entries = ComparedEntries(
        first: first, second: second, hasDetail: detail || bodies, comparesBodies: bodies)
      try entries.forEach(stat ? [] : comparison.differences) { difference, detail in
        switch format {
        case .table: renderer.appendText(difference, detail, into: &output.text)
        case .json: renderer.appendJSON(difference, detail, into: &output.text)
        }
        try output.flushIfLarge()
      }
      switch format {
      // Like `diff`: no output means that there is no difference.
      case .table where !stat && comparison.differences.isEmpty: break
      case .table: renderer.appendTotals(of: comparison, into: &output.text)
      case .json: renderer.endJSON(into: &output.text)
      }
      try output.flush()
    }

    private func open(
      _ path: String, _ environment: CommandEnvironment
    ) throws -> any ResponseSource {
      var cache = cache
      cache.cache = path
      return try cache.open(in: environment)
    }
  }
}

/// The aspects of entries to compare.
enum ComparisonBasis: String, CaseIterable, ExpressibleByArgument {
  case body, headers, all

  var aspects: Set<StoreComparison.Aspect> {
    switch self {
    case .body: [.body]
    case .headers: [.headers, .validators]
    case .all: Set(StoreComparison.Aspect.allCases)
    }
  }
}
