import Administration
public import ArgumentParser
import Bytes
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
      "Only URLs that match this regular expression in Perl syntax from start to end.",
      valueName: "expression"))
  var regex: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only this host; '.example.com' includes its subdomains.",
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
      "Only requests with this method; Apple caches only.", valueName: "method"),
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
      "Only bodies with this storage: inline, file, missing.",
      valueName: "where"))
  var body: [StoredResponse.BodyLocation] = []

  @Flag(help: "Only bodies that are incomplete, for example after an interrupted download.")
  var partial = false

  @Option(
    help: ArgumentHelp(
      "Only this cache partition; Apple caches only.", valueName: "site"))
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
    help: "Only older versions of files that have a newer version in the cache, judging by URLs.")
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
