import Administration
import ArgumentParser
import Bytes
import Files
import Querying
import Rendering
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin query`: answers a question about the entries in SQL.
  struct Query: ConfiguredCommand {
    static let configuration = CommandConfiguration(
      commandName: "query",
      abstract: "Query the entries of a cache with SQL.",
      usage: "urlcache-admin query [<options>] [<cache>] <sql> [:<name>=<value> ...]",
      discussion: """
        The SQL is a single SQLite SELECT statement. It reads decoded entries, not the
        database of the cache, so it cannot change or block anything. Tables:

          entries     a row for each entry, with the columns of 'list' in snake case
          headers     id, side (request, response), name, value, position
          directives  id, side, name, argument, known (from Cache-Control)
          findings    id, code, severity, message, meaning, repair (as in 'check')
          user_info   id, key, value

        Only the columns in the SQL are decoded. Sizes are in bytes, ages in seconds,
        times as in JSON. Selection options decide which entries the tables contain.
        ':host=example.com' sets the parameter ':host' of the SQL.
        """)

    @OptionGroup var operands: CacheOperand
    @Option(
      help: ArgumentHelp(
        "Read the SQL from this file; '-' is standard input.", valueName: "file"),
      completion: .file(extensions: ["sql"]))
    var file: String?

    @Option(
      help: ArgumentHelp(
        "Give up after this time (default: 60s).", valueName: "duration"),
      transform: parseDuration)
    var timeout: Double?

    @OptionGroup(title: "Selection") var selection: SelectionOptions
    @OptionGroup(title: "Cache") var cache: CacheOptions
    @OptionGroup(title: "Output") var formats: FormatOptions<QueryFormat>
    @OptionGroup(title: "Output") var secrets: SecretOptions
    @OptionGroup(title: "Output") var terminal: TerminalOptions

    var inputs: [String] { selection.urlFile + (file.map { [$0] } ?? []) }
    var writesJSON: Bool { formats.format == .json }

    func validate() throws {
      guard timeout ?? 1 > 0 else { throw ValidationError("'--timeout' must be longer than 0.") }
    }

    mutating func takeOperands(in environment: CommandEnvironment) throws {
      let given = (operands.first.map { [$0] } ?? []) + selection.entries
      var words = given.filter { $0.utf8.first != UInt8(ascii: ":") }
      selection.entries = given.filter { $0.utf8.first == UInt8(ascii: ":") }
      guard words.count <= (file == nil ? 2 : 1) else {
        throw CommandFailure.usage(
          "'query' takes a cache and one SQL statement, but there are \(words.count) operands",
          hint: "put the SQL in quotes: urlcache-admin query CACHE 'SELECT count(*) FROM entries'")
      }
      if file == nil {
        // SQL is no path, so in either order it is clear which is which.
        let isCacheLast = words.last.map(environment.mayBeCache) ?? false
        operands.first =
          isCacheLast ? words.count == 2 ? words.removeFirst() : nil : words.popLast()
      }
      guard let word = words.first else { return }
      if let cache = cache.cache {
        throw CommandFailure.usage(
          "there are two caches, '\(printable(cache))' and '\(printable(word))'",
          hint: "name one cache, as the first operand or with '-c'")
      }
      if try environment.isCache(word, unlessEntry: false, or: { false }) { cache.cache = word }
    }

    /// Returns the values of parameters, by name: operands such as `:name=value`.
    private func parameters() throws(CommandFailure) -> [String: DatabaseValue] {
      var parameters: [String: DatabaseValue] = [:]
      for word in selection.entries {
        let parts = word.utf8.dropFirst().split(
          separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let name = String(parts[0]), let text = String(parts[1]),
          !name.isEmpty
        else {
          throw .usage(
            "'\(printable(word))' names a parameter but no value", hint: "write ':name=value'")
        }
        // A column of texts compares itself with the text of a number, but `count(*)` only with a number. A text such as
        // `007` would change.
        let number = Int64(text).flatMap { "\($0)" == text ? $0 : nil }
        let value = number.map { DatabaseValue.integer($0) } ?? .text(Array(text.utf8))
        guard parameters.updateValue(value, forKey: name) == nil else {
          throw .usage(
            "the parameter ':\(printable(name))' has two values", hint: "give it only once")
        }
      }
      return parameters
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      let sql = try text(in: environment)
      let now = cache.now(in: environment)
      let rules = selection.expiry.userInfoExpiry
      let reader = ColumnReader(
        secrets: policy, context: EntryContext(now: now, expiryRules: rules))
      do {
        var query = try EntryQuery(
          sql, parameters: parameters(), reader: reader,
          check: EntryCheck(now: now, clock: environment.now))
        let format = formats.format
        if format.needsUniqueNames { try requireUniqueNames(query.columns) }
        let source = try cache.open(in: environment)
        var options = selection
        options.entries = []
        let selection = try options.resolved(at: now, of: cache, from: source, in: environment)
        var listing = Listing(selection: selection, now: now)
        let end = environment.steadyMilliseconds() + Int64(min(timeout ?? 60, 1e9) * 1_000)
        try listing.fill(&query, from: source) {
          if environment.steadyMilliseconds() > end { throw QueryError.interrupted }
        }
        try source.finish()
        var output = OutputBuffer(environment)
        var renderer = QueryRenderer(format, columns: query.columns)
        renderer.begin(into: &output.text)
        let rest = end - environment.steadyMilliseconds()
        try query.run(within: rest, unless: { HeldSignals.areWaiting }) {
          renderer.render($0, into: &output.text)
          try output.flushIfLarge()
        }
        renderer.finish(into: &output.text)
        try output.flush()
        return listing.report(in: environment, secrets.policy)
      } catch let error as QueryError {
        throw CommandFailure(error, after: timeout ?? 60)
      }
    }

    /// The secrets that the tables contain.
    private var policy: SecretPolicy {
      // What the result shows can be any part of a URL, so URLs are masked before the query sees them.
      let masksURLs = formats.format == .table && !secrets.showSecrets
      return SecretPolicy(
        showSecrets: secrets.showSecrets, redactURLs: secrets.redactURLs || masksURLs)
    }

    private func text(in environment: CommandEnvironment) throws -> String {
      if file == nil, let sql = operands.first { return sql }
      guard let file else {
        throw CommandFailure.usage(
          "no SQL given",
          hint: "write: "
            + OptionHints.commandLine(
              environment.words,
              adding: ["SELECT url, size FROM entries ORDER BY size DESC LIMIT 10"]))
      }
      // As much as SQLite compiles.
      let limit = 1 << 20
      let bytes = try environment.inputs.text(of: file, upTo: limit)
      guard bytes.count <= limit else {
        throw CommandFailure.usage("the SQL in '\(printable(file))' is longer than 1 MiB")
      }
      guard let text = ByteString(bytes).string else {
        throw CommandFailure.usage("the SQL in '\(printable(file))' is not UTF-8")
      }
      return text
    }

    private func requireUniqueNames(_ columns: [String]) throws(CommandFailure) {
      var names: Set<String> = []
      for column in columns where !names.insert(column).inserted {
        throw .usage(
          "two columns are named '\(printable(column))', and members of an object need different names",
          hint: "name them in the SQL with AS, or use '--format csv'")
      }
    }
  }
}

extension QueryFormat: OutputFormat {}

extension CommandEnvironment {
  /// Whether a word is the name of a cache or the path of a file.
  fileprivate func mayBeCache(_ word: String) -> Bool {
    configuration.path(ofCache: word) != nil || (try? FileStatus.of(word)) != nil
  }
}

extension CommandFailure {
  /// Creates a failure from an error of a query.
  ///
  /// - Parameter seconds: The time after which it was ended.
  init(_ error: QueryError, after seconds: Double = .infinity) {
    switch error {
    case .empty: self = .usage("the SQL has no statement")
    case .severalStatements:
      self = .usage("the SQL has several statements", hint: "run 'query' once for each")
    case .notReading(let action):
      self = .usage(
        "a query can only read, but this SQL contains \(action)", hint: "write one SELECT")
    case .invalid(let message):
      self = .usage(
        Self.absence(in: message) ?? "SQLite does not understand the SQL: \(printable(message))",
        hint: EntryQuery.names(instead: message))
    case .unnamedParameter:
      self = .usage("a parameter has no name", hint: "write ':name' instead of '?'")
    case .missingParameter(let name):
      self = .usage(
        "the parameter ':\(printable(name))' has no value",
        hint: "add ':\(printable(name))=VALUE' after the SQL")
    case .unusedParameter(let name):
      self = .usage("the SQL has no parameter ':\(printable(name))'")
    case .interrupted:
      self = .usage(
        "the query took longer than "
          + (seconds < 1 ? "\(seconds) s" : "\(Int64(min(seconds, 1e9))) s"),
        hint: "allow more with '--timeout 10min'")
    case .tooLarge(let message):
      self = .usage(
        "the query needs too much memory: \(printable(message))",
        hint: "select fewer entries or columns")
    case .noRoom:
      self.init(
        .inputOutput, kind: "no-room", "there is no room for the temporary tables",
        hint: "set SQLITE_TMPDIR to a folder with more room: SQLITE_TMPDIR=FOLDER")
    case .failed(let message):
      self = .usage("the query failed: \(printable(message))")
    }
  }
}

extension CommandFailure {
  /// Returns what SQLite says that there is none of, in words; `nil` for another message.
  fileprivate static func absence(in message: String) -> String? {
    for kind in ["column", "table"] {
      let beginning = "no such \(kind): "
      guard message.utf8.starts(with: beginning.utf8) else { continue }
      let name = String(
        decoding: Array(message.utf8.dropFirst(beginning.utf8.count)), as: UTF8.self)
      return "no \(kind) '\(printable(name))' in the SQL"
    }
    return nil
  }
}
