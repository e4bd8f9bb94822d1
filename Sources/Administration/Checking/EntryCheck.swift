public import Bytes
import HTTPCaching
import Matching
public import ResponseStorage

extension Finding.Code {
  static let wrongKey = Self(
    "wrong-key", .warning, "the app may get this response for a different URL")
  static let notGET = Self(
    "not-get", .note,
    "the key does not include the method, so a GET of the same URL may get this response")
  static let notHTTP = Self(
    "not-http", .note,
    "the URL loading system stores only HTTP responses, so the app stored this one itself")
  static let noStore = Self(
    "no-store", .warning, "the server or the app asked not to store it")
  static let notForDisk = Self(
    "not-for-disk", .warning, "the app did not allow storing it on disk")
  static let queryNotInKey = Self(
    "query-not-in-key", .warning,
    "the app gets this response for the same path with any query, even another user's")
  static let keyOfAnotherURL = Self(
    "key-of-another-url", .note,
    "the app gets this response for the URL of the key, as after a redirect, not for its own URL")
  static let fromTheFuture = Self(
    "from-the-future", .warning, "a clock was wrong, so the entry counts as fresh for too long")
}

/// The checks of a single response, for stores of all formats.
public struct EntryCheck: Sendable {
  /// The fields to decode of each response.
  public static let projection = Projection.all.union(.consistency)

  /// The same, except that most header fields in which there is nothing to find are left out.
  static let quickProjection = projection.subtracting(headerFields).union(.screenedFields)

  /// All kinds of header fields.
  private static let headerFields: Projection = [
    .responseHeaders, .freshnessFields, .cachingFields, .requestHeaders,
  ]

  /// Returns the fields to decode of a response if others need the fields in `projection`.
  static func projection(with projection: Projection) -> Projection {
    let own = projection.isDisjoint(with: headerFields) ? quickProjection : Self.projection
    return own.union(projection)
  }

  private static let usualMethod: ByteString = "GET"
  /// `https://` as a little-endian number.
  private static let usualBeginning: UInt64 = 0x2F2F_3A73_7074_7468

  /// The tolerated difference between clocks, in seconds.
  private static let tolerance = 300.0

  /// The time that stored times are compared with.
  let now: Timestamp
  /// The system time, for the age of files.
  let clock: Timestamp

  /// Creates the checks.
  ///
  /// - Parameters:
  ///   - now: The time that stored times are compared with.
  ///   - clock: The system time, for the age of files.
  public init(now: Timestamp, clock: Timestamp) {
    (self.now, self.clock) = (now, clock)
  }

  /// Returns the findings on a response, those from reading it first.
  public func findings(on response: borrowing StoredResponse) -> [Finding] {
    var findings: [Finding] = []
    func add(_ code: Finding.Code, _ message: String) {
      // Two columns can cause the same note.
      let finding = Finding(code, message, id: response.id, url: response.url)
      if !findings.contains(finding) { findings.append(finding) }
    }
    // A repair would keep it, too: a link, a pipe, or a file that also has a name elsewhere.
    let isKept = KeepReason(ofSelected: response) != nil
    for note in response.notes {
      let code = note.code.finding
      if isKept, code.repair != nil {
        add(code.withoutRepair, note.message + "; it is kept")
      } else {
        add(code, note.message)
      }
    }
    if let key = response.key, let url = response.request.url,
      !CacheKeyCheck.agrees(key, with: url, hasBody: response.request.body != nil)
    {
      add(.wrongKey, "its key does not match its request URL")
    }
    // CFNetwork's key has no method, so a stored POST or HEAD is found where a GET is looked up.
    if let method = response.request.method, method != Self.usualMethod {
      add(.notGET, "its method is not GET")
    }
    if let url = response.url, !Self.isHTTP(url) {
      add(.notHTTP, "its URL is not an HTTP URL")
    }
    if Self.forbidsStoring(response.responseHeaders) {
      add(.noStore, "the response has 'no-store'")
    }
    // `no-store` in a request forbids storing its response as well (RFC 9111 §5.2.1.5).
    if Self.forbidsStoring(response.request.headers) {
      add(.noStore, "the request has 'no-store'")
    }
    // Without fields, only the status can be a finding.
    if response.responseHeaders?.fields.isEmpty == false || response.status == 206,
      let exchange = Exchange(of: response)
    {
      for (code, message) in Self.findings(of: exchange, response) { add(code, message) }
    }
    if response.storagePolicy == .allowedInMemoryOnly || response.storagePolicy == .notAllowed {
      add(.notForDisk, "its storage policy is not 'allowed'")
    }
    // Foundation on Linux makes its key of host, port and path only, so two queries share one
    // entry.
    if let key = response.foundationKey, let url = response.url {
      if url.bytes.contains(UInt8(ascii: "?")) {
        add(.queryNotInKey, "its URL has a query, but its key does not")
      }
      if FoundationKey(of: url) != key {
        add(.keyOfAnotherURL, "its key does not belong to its URL")
      }
    }
    // An entry from the future does not age until its time comes, and stays fresh for that much
    // longer. CFNetwork and Foundation evict the oldest entries first, so they also keep it
    // longest.
    if isInTheFuture(response.stored) || isInTheFuture(response.firstStored),
      // The note about the date is a finding already.
      !response.notes.contains(where: { $0.code == .futureDated })
    {
      add(.fromTheFuture, "it was stored in the future")
    }
    return findings
  }

  private func isInTheFuture(_ time: Timestamp?) -> Bool {
    guard let time else { return false }
    return time.secondsSince1970 > now.secondsSince1970 + Self.tolerance
  }

  private static func isHTTP(_ url: ByteString) -> Bool {
    // Nearly all URLs begin like this, and need not be parsed.
    if url.bytes.count >= 8, url.bytes.span.word(at: 0) == usualBeginning { return true }
    return ["http", "https"].contains(CanonicalURL.scheme(of: url))
  }

  /// Whether a message forbids storing it (RFC 9111 §5.2.1.5, §5.2.2.5).
  static func forbidsStoring(_ headers: HeaderFields?) -> Bool {
    guard let headers, !headers.fields.isEmpty else { return false }
    return CacheControl(FieldSection(headers)).contains(.noStore)
  }
}

extension StoredResponse.Note.Code {
  /// The code of the finding for a note.
  var finding: Finding.Code {
    let lost = "the app cannot use it, and nothing else ever removes it"
    let unusable = "the app cannot use this entry"
    return switch self {
    case .noResponseRow, .noBlobRow, .noBodyRow: .init(rawValue, .error, lost, repair: .rows)
    // A repair removes only what no app can read. It must not remove what is merely too large for
    // this reader, or not readable for this user: `tooLarge` and the unreadable files have no
    // repair.
    case .undecodable: .init(rawValue, .error, unusable, repair: .undecodable)
    case .missingBodyFile, .badBodyFileName, .notARegularFile:
      .init(rawValue, .error, unusable, repair: .bodies)
    case .unreadableBodyFile: .init(rawValue, .error, "check its permissions")
    case .unknownVersion:
      .init(rawValue, .warning, "a newer system may have stored it; some of it may be misread")
    case .wrongType, .notUTF8, .badTime:
      .init(rawValue, .warning, "no system writes such a value")
    case .tooLarge: .init(rawValue, .note, "its contents were not checked")
    // The archive decoder of Foundation on Linux ends the process for classes that are not
    // expected, references to themselves, and keys without values. An app cannot catch that.
    case .fatalToFoundation:
      .init(
        rawValue, .error, "the app crashes when it looks up this entry", repair: .undecodable)
    case .emptyFile: .init(rawValue, .error, unusable, repair: .undecodable)
    case .unreadableFile: .init(rawValue, .error, "check its permissions")
    // No repair: nothing tells which of the two is the right one.
    case .duplicateKey: .init(rawValue, .warning, "the app may get either entry")
    case .futureDated:
      .init(rawValue, .warning, "a clock was wrong when it was stored")
    case .badFileName:
      .init(rawValue, .warning, "it wastes disk space, and nothing else ever removes it")
    // CFNetwork looks entries up by `request_key` alone. It writes the hash in 64 bits when it
    // inserts a row and in 32 bits when it updates one, and never reads it.
    case .wrongHash: .init(rawValue, .note, "no lookup uses this value")
    }
  }
}

/// Checks the key of an entry in an Apple store against the keys that CFNetwork makes for a request.
///
/// A key is the URL with invalid characters percent-escaped. The text of the request's body and the partition in
/// brackets may follow; after a query the last `/` is missing. Source: `apple-cache.md`, "Key".
enum CacheKeyCheck {
  /// Whether `key` is a valid key for `url`.
  ///
  /// - Parameter hasBody: Whether the request has a body; its text is not compared.
  static func agrees(_ key: ByteString, with url: ByteString, hasBody: Bool) -> Bool {
    // Nearly all keys equal the URL.
    if key == url { return true }
    // CFNetwork percent-escapes in the key what may not stand in a URL, such as `[` and `|`, and
    // keeps it raw in the property list. The canonical forms of both are equal.
    let url = CanonicalURL.of(url).bytes[...]
    // In caches of schema 102 and 104, the key of a URL with a query lacks the slash at its end,
    // while that of a bare host keeps it. Both count as right: a false finding would tell users
    // that an app gets somebody else's response.
    let shortURL = url.last == UInt8(ascii: "/") ? url.dropLast() : url
    return [key, withoutPartition(key)].contains { key in
      let key = CanonicalURL.of(key).bytes
      // Schemas 102 and 104 append the raw body of a POST to the URL, so only the beginning can be
      // compared.
      return key == Array(url) || key == Array(shortURL) || hasBody && key.starts(with: shortURL)
    }
  }

  // Some real keys end with a partition although the column `partition` is NULL, so the column
  // cannot tell whether to expect one.
  private static func withoutPartition(_ key: ByteString) -> ByteString {
    guard key.bytes.last == UInt8(ascii: "]"),
      let bracket = key.bytes.lastIndex(of: UInt8(ascii: "["))
    else { return key }
    return ByteString(Array(key.bytes[..<bracket]))
  }
}

/// The findings on consecutive responses.
///
/// Each thread that reads the store fills one: checking a response takes as long as reading it.
struct CheckTally: ResponseTally {
  /// The findings on one response, in order.
  struct Checked {
    /// The finding of a rule.
    let byRule: Finding?
    /// The other findings.
    let findings: [Finding]
    /// The response as a repair would remove it; `nil` if no finding has a repair.
    let entry: RemovalPlan.Entry?
  }

  /// The fields to decode of each response.
  let projection: Projection

  /// The number of all responses.
  private(set) var responses: Int64 = 0
  /// The responses with findings.
  private(set) var checked: [Checked] = []
  /// The names of body files in the responses.
  private(set) var bodyFiles: [ByteString] = []
  /// The expression of a rule that took too long; later responses are not checked.
  private(set) var overrun: RegularExpression.Overrun?

  private let check: EntryCheck
  private let rules: EntryRules

  /// Creates an empty tally.
  init(_ check: EntryCheck, _ rules: EntryRules) {
    self.check = check
    self.rules = rules
    projection = EntryCheck.projection(with: rules.projection)
  }

  // Few enough that the findings in memory do not grow with those of a store, whose URLs can be long.
  var isFull: Bool { checked.count >= 256 || overrun != nil }

  mutating func insert(_ response: borrowing StoredResponse) {
    guard overrun == nil else { return }
    responses += 1
    if let name = response.bodyFileName { bodyFiles.append(name) }
    do throws(RegularExpression.Overrun) {
      let byRule = try rules.finding(on: response)
      let findings = check.findings(on: response)
      if byRule == nil, findings.isEmpty { return }
      let isRepairable = findings.contains { $0.code.repair != nil }
      let entry = isRepairable ? RemovalPlan.Entry(of: response, at: nil) : nil
      checked.append(Checked(byRule: byRule, findings: findings, entry: entry))
    } catch {
      overrun = error
    }
  }

  /// Makes room for other responses.
  mutating func removeAll() {
    responses = 0
    checked.removeAll(keepingCapacity: true)
    bodyFiles.removeAll(keepingCapacity: true)
  }
}

extension Finding.Code {
  static let partialBody = Self(
    "partial-body", .warning,
    "the download may have been interrupted; the app gets only the stored part")
  static let otherLength = Self(
    "other-length", .note, "apps that store re-encoded JSON cause this")
  static let noCacheWithoutValidator = Self(
    "no-cache-without-validator", .note,
    "it is downloaded again for every use, so storing it saves nothing")
}

extension EntryCheck {
  /// Returns the findings on the length of a body, and on storing a response at all: a code and a message each.
  static func findings(
    of exchange: borrowing Exchange, _ response: borrowing StoredResponse
  ) -> [(Finding.Code, String)] {
    var findings: [(Finding.Code, String)] = []
    // `no-cache` with field names only withholds these fields. Without names, the whole response is
    // validated before each use (RFC 9111 §5.2.2.4), which is pointless without a validator.
    if case .wholeResponse? = exchange.directives.noCache, Validators(of: exchange).isEmpty {
      findings.append(
        (.noCacheWithoutValidator, "the response has 'no-cache' but no validator"))
    }
    switch BodyCompleteness(of: exchange, response) {
    case .whole: break
    // `URLCache` returns whatever bytes are stored, so an app takes a part for the whole.
    case .partial where exchange.status == 206:
      findings.append((.partialBody, "its status is 206, so only part of the body is stored"))
    case .partial:
      findings.append((.partialBody, "its body is shorter than its 'Content-Length'"))
    // An app that parses JSON and stores it again makes it shorter, and leaves `Content-Length` as
    // it was received. So this is no sign of a download that was cut off.
    case .rewritten:
      findings.append((.otherLength, "its body is shorter than its 'Content-Length'"))
    case .longer:
      findings.append((.otherLength, "its body is longer than its 'Content-Length'"))
    }
    return findings
  }
}
