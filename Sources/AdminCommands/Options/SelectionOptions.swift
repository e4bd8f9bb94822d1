import Administration
public import ArgumentParser
import Bytes
import Matching
public import ResponseStorage

/// The options for selecting entries: different options are combined with AND, a repeated option with OR. All options
/// that name entries add to one list.
struct SelectionOptions: ParsableArguments {
  @Argument(help: "URLs or ids of entries. URLs are literal, never patterns.")
  var entries: [String] = []

  @Option(
    help: ArgumentHelp("Also the entry with this id.", valueName: "id"), transform: parseID)
  var id: [StoredResponse.ID] = []

  @Option(
    help: ArgumentHelp(
      "Also the URLs in this file, one per line; '-' is standard input.",
      valueName: "file"),
    completion: .file())
  var urlFile: [String] = []

  @Option(help: ArgumentHelp("Only URLs that start with this text.", valueName: "text"))
  var prefix: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only URLs that match this pattern: '*' any text, '?' one character, '[a-z]'.",
      valueName: "pattern"))
  var glob: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only URLs that match this regular expression (Perl syntax) as a whole.",
      valueName: "expression"))
  var regex: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only this host; '.example.com' also includes its subdomains, '*.example.com' means only the"
        + " subdomains.",
      valueName: "host"),
    completion: .requested)
  var host: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only URLs with this query parameter, and with this value if given.",
      valueName: "name[=value]"))
  var query: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only responses with this header field, and with a value that matches this pattern if given.",
      valueName: "name[=pattern]"),
    transform: parseHeader)
  var header: [HeaderCriterion] = []

  @Option(
    help: ArgumentHelp(
      "Only requests with this header field, and with a value that matches this pattern if given.",
      valueName: "name[=pattern]"),
    transform: RequestHeader.init(parsing:))
  var requestHeader: [RequestHeader] = []

  @Option(
    help: ArgumentHelp(
      "Only bodies that contain this text, after decoding them; see also 'grep'.",
      valueName: "text"))
  var contains: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only requests with this method; not for Foundation caches, which store no methods.",
      valueName: "method"),
    completion: .list(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]))
  var method: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only these statuses, for example '200,4xx' or '400-499'.", valueName: "statuses"),
    transform: parseStatuses)
  var status: [[ClosedRange<Int64>]] = []

  @Option(
    name: [.long, .customLong("type")],
    help: ArgumentHelp(
      "Only this media type, for example 'image' or 'text/html'.", valueName: "type"))
  var mime: [String] = []

  @Option(
    help: ArgumentHelp("Only entries older than this.", valueName: "duration"),
    transform: parseDuration)
  var olderThan: Double?

  @Option(
    help: ArgumentHelp("Only entries newer than this.", valueName: "duration"),
    transform: parseDuration)
  var newerThan: Double?

  @Option(
    help: ArgumentHelp(
      "Only entries stored before this time; a duration counts back from now.", valueName: "time"),
    transform: TimeBound.init(parsing:))
  var storedBefore: TimeBound?

  @Option(
    name: [.long, .customLong("since")],
    help: ArgumentHelp(
      "Only entries stored after this time (newer entries); a duration counts back from now.",
      valueName: "time"),
    transform: TimeBound.init(parsing:))
  var storedAfter: TimeBound?

  @Option(
    help: ArgumentHelp(
      "The basis of ages and times: stored, first-stored, date, last-modified,"
        + " user-info:KEY.", valueName: "basis"),
    completion: .list(["stored", "first-stored", "date", "last-modified"]))
  var ageBasis: String = "stored"

  @Option(
    help: ArgumentHelp("Only bodies larger than this.", valueName: "size"),
    transform: WrittenSize.init(parsing:))
  var largerThan: WrittenSize?

  @Option(
    help: ArgumentHelp("Only bodies smaller than this.", valueName: "size"),
    transform: WrittenSize.init(parsing:))
  var smallerThan: WrittenSize?

  @Option(
    help: ArgumentHelp(
      "Only entries whose body is stored like this: inline, file, missing.",
      valueName: "where"))
  var body: [StoredResponse.BodyLocation] = []

  @Flag(help: "Only bodies that are incomplete, for example after an interrupted download.")
  var partial = false

  @Option(
    help: ArgumentHelp(
      "Only this cache partition; Apple and WebKit caches only.", valueName: "site"))
  var partition: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only this storage policy: allowed, memory-only, not-allowed.", valueName: "policy"),
    completion: .list(StoredResponse.StoragePolicy.names))
  var storagePolicy: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only entries with this user-info key, and with this value if given.",
      valueName: "key[=value]"),
    transform: parseProperty)
  var userInfo: [PropertyCriterion] = []

  @Flag(help: "Only fresh entries.")
  var fresh = false

  @Flag(help: "Only stale entries; add '--fresh' or '--no-lifetime' to include those.")
  var stale = false

  @Flag(help: "Only entries without a lifetime, not even a heuristic one.")
  var noLifetime = false

  @Option(
    help: ArgumentHelp(
      "Only fresh entries that become stale within this time.", valueName: "duration"),
    transform: parseDuration)
  var expiresWithin: Double?

  @Option(
    help: ArgumentHelp(
      "Only entries with this validator: none, weak, strong, etag, last-modified.",
      valueName: "kind"))
  var validator: [ResponseFreshness.ValidatorKind] = []

  @Flag(
    help: """
      Only older versions of files that have a newer version in the cache, judging by URLs; \
      not in 'diff' and 'watch'.
      """)
  var superseded = false

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp(
      "Only entries that match this expression, such as 'age > 7d && status in (404, 5xx)'.",
      valueName: "expression"))
  var conditions: [String] = []

  @OptionGroup var expiry: ExpiryOptions

  /// Rejects empty strings: every URL begins with one, and no other property of a response equals one.
  func validate() throws {
    let texts: KeyValuePairs = [
      "--prefix": prefix, "--glob": glob, "--regex": regex, "--host": host, "--method": method,
      "--mime": mime, "--contains": contains,
    ]
    for (option, values) in texts where values.contains("") {
      throw ValidationError("'\(option)' has an empty value; a shell variable may be empty.")
    }
  }
}

extension ResponseFreshness.ValidatorKind: ExpressibleByArgument {}
extension StoredResponse.BodyLocation: ExpressibleByArgument {}

extension SelectionOptions {
  /// Creates the selection of entries of one cache.
  ///
  /// - Parameters:
  ///   - now: The time that ages are relative to.
  ///   - cache: The cache whose rules apply.
  ///   - source: The cache, which is read if the selection depends on all its entries.
  func resolved(
    at now: Timestamp, of cache: CacheOptions?, from source: any ResponseSource,
    in environment: CommandEnvironment
  ) throws -> Selection {
    var selection = try parsed(at: now, of: cache, in: environment)
    try selection.prepare(for: source, at: now, in: environment)
    return selection
  }

  /// Refuses an option that depends on all entries of one cache.
  func refuseSuperseded() throws(CommandFailure) {
    guard superseded else { return }
    throw CommandFailure.usage(
      "this command does not accept '--superseded', which depends on all entries of one cache",
      hint: "list the URLs with 'urlcache-admin list -c PATH --superseded --format urls',"
        + " then give them with '--url-file'")
  }

  /// Creates a selection that is not yet prepared for a cache.
  ///
  /// - Parameters:
  ///   - now: The time that ages are relative to.
  ///   - cache: The cache whose rules apply; `nil` for several caches.
  func parsed(
    at now: Timestamp, of cache: CacheOptions?, in environment: CommandEnvironment
  ) throws -> Selection {
    let criteria = try criteria(at: now, in: environment)
    let sizes = [largerThan, smallerThan].compactMap { $0?.note }
    for note in sizes + criteria.notes { environment.noteOnce(note) }
    if let contradiction = criteria.contradiction {
      throw CommandFailure.usage(contradiction.message, hint: contradiction.hint)
    }
    var selection = criteria.selection(at: now)
    if let field = criteria.conditions.lazy.compactMap(\.fieldOfRules).first {
      guard let cache else {
        throw CommandFailure.usage(
          "'--where' cannot test '\(field)' here: it depends on the rules of one cache, and there are two",
          hint: "list the entries of each with 'urlcache-admin list -c NAME --where …'")
      }
      selection.classes = try cache.classes(at: now, in: environment)
    }
    // Ages and times are compared here: only relative to `now` are they the same kind of bound.
    if let before = selection.before, let after = selection.after, before <= after {
      throw CommandFailure.usage(
        "the options for ages and times contradict each other",
        hint: "use one lower and one upper bound")
    }
    return selection
  }

  /// Parses the criteria.
  private func criteria(
    at now: Timestamp, in environment: CommandEnvironment
  ) throws -> SelectionCriteria {
    var criteria = SelectionCriteria()
    criteria.names = try names(in: environment)
    criteria.prefixes = try Self.read(prefix, "--prefix") { text throws(WrittenValueError) in
      try WrittenValue.prefix(text)
    }
    criteria.globs = try Self.read(glob, "--glob") { text throws(WrittenValueError) in
      try Glob(url: text)
    }
    criteria.mimeTypes = try Self.read(Self.parts(of: mime, "--mime"), "--mime") {
      text throws(WrittenValueError) in
      try Glob(mimeType: text)
    }
    criteria.expressions = try Self.read(regex, "--regex") { text throws(WrittenValueError) in
      try RegularExpression(written: text)
    }
    criteria.hosts = try Self.read(Self.parts(of: host, "--host"), "--host") {
      text throws(WrittenValueError) in
      try WrittenValue.host(text)
    }
    criteria.parameters = try Self.read(query, "--query") { text throws(WrittenValueError) in
      try ParameterCriterion(written: text)
    }
    criteria.headers = header
    criteria.requestHeaders = try requestHeader.map { try $0.criterion }
    criteria.texts = contains.map { ByteString($0) }
    criteria.methods = try Self.read(method, "--method") { text throws(WrittenValueError) in
      try WrittenValue.method(text)
    }
    criteria.statuses = status.flatMap { $0 }
    criteria.ageBasis = try Self.read([ageBasis], "--age-basis") { text throws(WrittenValueError) in
      try AgeBasis(written: text)
    }.first
    criteria.storedBefore = try storedBefore?.resolved(at: now)
    criteria.storedAfter = try storedAfter?.resolved(at: now)
    (criteria.olderThan, criteria.newerThan) = (olderThan, newerThan)
    (criteria.largerThan, criteria.smallerThan) = (largerThan?.bytes, smallerThan?.bytes)
    criteria.bodyLocations = Set(body)
    criteria.isPartial = partial
    criteria.partitions = Set(
      try Self.read(partition, "--partition") { text throws(WrittenValueError) in
        try WrittenValue.partition(text)
      })
    criteria.storagePolicies = Set(
      try Self.read(storagePolicy, "--storage-policy") { text throws(WrittenValueError) in
        try StoredResponse.StoragePolicy(written: text)
      })
    criteria.userInfo = userInfo
    if fresh { criteria.freshness.insert(.fresh) }
    if stale { criteria.freshness.insert(.stale) }
    if noLifetime { criteria.freshness.insert(.noLifetime) }
    criteria.expiresWithin = expiresWithin
    criteria.validators = Set(validator)
    criteria.selectsSuperseded = superseded
    criteria.expiryRules = expiry.userInfoExpiry
    criteria.conditions = try conditions.map { text in
      do throws(ConditionError) { return try Condition(text) } catch {
        throw CommandFailure.usage(
          error.message(about: "the expression given with '--where'", text), hint: error.hint)
      }
    }
    return criteria
  }

  private static func read<Value>(
    _ texts: [String], _ option: String,
    by read: (String) throws(WrittenValueError) -> Value
  ) throws(CommandFailure) -> [Value] {
    var values: [Value] = []
    for text in texts {
      do throws(WrittenValueError) { values.append(try read(text)) } catch {
        throw .usage("'\(option)': '\(printable(text))' \(error.reason)", hint: error.hint)
      }
    }
    return values
  }

  /// Returns values that may be written with commas between them, because no host and no media type contains one.
  private static func parts(of texts: [String], _ option: String) throws(CommandFailure) -> [String]
  {
    var parts: [String] = []
    for text in texts {
      // In a pattern, a comma can belong to a class such as '[a,b]'.
      guard !text.utf8.contains(UInt8(ascii: "[")) else {
        parts.append(text)
        continue
      }
      let values = text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
      guard !values.contains(where: \.isEmpty) else {
        throw .usage(
          "'\(option)': '\(printable(text))' has an empty value",
          hint: "write one comma between two values")
      }
      parts += values.map { String(decoding: Array($0), as: UTF8.self) }
    }
    return parts
  }

  /// Returns the entries named by operands or options; `nil` if there are none.
  private func names(in environment: CommandEnvironment) throws -> [EntryNames.Name]? {
    if entries.isEmpty, id.isEmpty, urlFile.isEmpty { return nil }
    var names = try entries.map { try EntryNames.Name(operand: $0, in: environment) }
    names += id.map { .id($0) }
    for file in urlFile { names += try Self.urls(in: file, environment).map { .url($0) } }
    return names
  }

  /// Reads the URLs in a file, one per line; skips empty lines.
  static func urls(in file: String, _ environment: CommandEnvironment) throws
    -> [ByteString]
  {
    let limit = 256 << 20
    let bytes = try environment.inputs.text(of: file, upTo: limit)
    guard bytes.count <= limit else {
      throw CommandFailure.usage("the list of URLs '\(file)' is larger than 256 MiB")
    }
    return bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
      // Lists from Windows have CR LF line breaks.
      let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      return line.isEmpty ? nil : ByteString(Array(line))
    }
  }
}

extension Selection {
  /// Reads the cache if the selection depends on all its entries.
  mutating func prepare(
    for source: any ResponseSource, at now: Timestamp, in environment: CommandEnvironment
  ) throws {
    note(unstoredIn: source.description.traits, in: environment)
    names = try names?.withFullIDs(in: source)
    try findSuperseded(in: source)
    try findTexts(in: source, at: now)
  }

  /// Reports the options that can select nothing, because the cache stores nothing of the kind.
  private func note(unstoredIn traits: StoreTraits, in environment: CommandEnvironment) {
    let cache = traits.words ?? "cache"
    func note(_ part: StoreTraits.RequestPart, _ option: String, _ isGiven: Bool, _ lack: String) {
      guard isGiven, traits.unstored.contains(part) else { return }
      environment.noteOnce("'\(option)' selects nothing: a \(cache) \(lack)")
    }
    note(.method, "--method", !criteria.methods.isEmpty, "stores no methods")
    note(
      .fields, "--request-header", !criteria.requestHeaders.isEmpty, "stores no request headers")
    note(.partition, "--partition", !criteria.partitions.isEmpty, "has no partitions")
    // Only a cache with lists has records of several kinds.
    if !traits.hasLists, criteria.conditions.contains(where: { $0.uses("type") }) {
      environment.noteOnce(
        "'type' is the kind of record of a WebKit cache; for media types use 'mime'")
    }
  }
}
