import Administration
public import ArgumentParser
import Bytes
public import ResponseStorage

/// The options for selecting entries: different options are combined with AND, a repeated option with OR. All options
/// that name entries add to one list.
struct SelectionOptions: ParsableArguments {
  @Argument(help: "URLs or ids of entries; a URL is taken literally, never as a pattern.")
  var entries: [String] = []

  @Option(
    help: ArgumentHelp("The entry with this id, too.", valueName: "id"), transform: parseID)
  var id: [StoredResponse.ID] = []

  @Option(
    help: ArgumentHelp(
      "The URLs in this file too, one a line; '-' is the standard input.",
      valueName: "file"),
    completion: .file())
  var urlFile: [String] = []

  @Option(help: ArgumentHelp("Only URLs that begin so.", valueName: "text"))
  var prefix: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only URLs that match: '*' any text, '?' one character, '[a-z]'.",
      valueName: "pattern"))
  var glob: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only URLs that match from beginning to end; it may not take 5 s on one of them.",
      valueName: "expression"))
  var regex: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only this host; '.example.com' is that and all below it.",
      valueName: "host"),
    completion: .requested)
  var host: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only URLs with this parameter in the query, and this value if one is given.",
      valueName: "name[=value]"))
  var query: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only requests with this method, which Foundation does not store.", valueName: "method"),
    completion: .list(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]))
  var method: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only these statuses, for example '200,4xx' or '400-499'.", valueName: "statuses"),
    transform: parseStatuses)
  var status: [[ClosedRange<Int64>]] = []

  @Option(
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
      "Only entries stored before this time, or longer ago than a duration.", valueName: "time"),
    transform: TimeBound.init(parsing:))
  var storedBefore: TimeBound?

  @Option(
    name: [.long, .customLong("since")],
    help: ArgumentHelp(
      "Only entries stored after this time (the newer ones), or within a duration.",
      valueName: "time"),
    transform: TimeBound.init(parsing:))
  var storedAfter: TimeBound?

  @Option(
    help: ArgumentHelp(
      "What ages and times are taken from: stored, first-stored, date, last-modified,"
        + " user-info:KEY.", valueName: "basis"),
    completion: .list(["stored", "first-stored", "date", "last-modified"]))
  var ageBasis: String = "stored"

  @Option(
    help: ArgumentHelp("Only bodies of more than this.", valueName: "size"),
    transform: parseSize)
  var largerThan: ByteCount?

  @Option(
    help: ArgumentHelp("Only bodies of less than this.", valueName: "size"),
    transform: parseSize)
  var smallerThan: ByteCount?

  @Option(
    help: ArgumentHelp(
      "Only bodies that are there: inline, file, missing.",
      valueName: "where"))
  var body: [StoredResponse.BodyLocation] = []

  @Flag(help: "Only bodies of which a part is stored, as of a download that was cut off.")
  var partial = false

  @Option(
    help: ArgumentHelp(
      "Only this cache partition, which Foundation does not have.", valueName: "site"))
  var partition: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only this storage policy: allowed, memory-only, not-allowed.", valueName: "policy"),
    completion: .list(StoredResponse.StoragePolicy.names))
  var storagePolicy: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only entries to which the app attached this key, and this value if one is given.",
      valueName: "key[=value]"),
    transform: parseProperty)
  var userInfo: [PropertyCriterion] = []

  @Flag(help: "Only fresh entries.")
  var fresh = false

  @Flag(help: "Only stale entries; with '--fresh' or '--no-lifetime' those, too.")
  var stale = false

  @Flag(help: "Only entries that have no lifetime, not even by a heuristic.")
  var noLifetime = false

  @Option(
    help: ArgumentHelp(
      "Only fresh entries that become stale within this time.", valueName: "duration"),
    transform: parseDuration)
  var expiresWithin: Double?

  @Option(
    help: ArgumentHelp(
      "Only entries that can be validated so: none, weak, strong, etag, last-modified.",
      valueName: "kind"))
  var validator: [ResponseFreshness.ValidatorKind] = []

  @Flag(
    help: "Only older versions of files of which the cache has a newer one, by rules on URLs.")
  var superseded = false

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp(
      "Only entries for which this is true, for example 'age > 7d && status in (404, 5xx)'.",
      valueName: "expression"))
  var conditions: [String] = []

  @OptionGroup var expiry: ExpiryOptions

  /// Rejects empty strings: every URL begins with one, and no other property of a response equals one.
  func validate() throws {
    let texts: KeyValuePairs = [
      "--prefix": prefix, "--glob": glob, "--regex": regex, "--host": host, "--method": method,
      "--mime": mime,
    ]
    for (option, values) in texts where values.contains("") {
      throw ValidationError("'\(option)' is given an empty text, as by an empty shell variable.")
    }
  }
}

extension ResponseFreshness.ValidatorKind: ExpressibleByArgument {}
extension StoredResponse.BodyLocation: ExpressibleByArgument {}
