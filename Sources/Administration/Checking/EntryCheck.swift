public import Bytes
import HTTPCaching
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
    for note in response.notes { add(note.code.finding, note.message) }
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
    if case .file = response.id, response.url?.bytes.contains(UInt8(ascii: "?")) ?? false {
      add(.queryNotInKey, "its URL has a query, but its key does not")
    }
    if case .file = response.id, let key = response.key, let url = response.url,
      FoundationKey(of: url)?.text != key
    {
      add(.keyOfAnotherURL, "its key does not belong to its URL")
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
      .init(rawValue, .warning, "CFNetwork never writes such a value")
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
      .init(rawValue, .warning, "Foundation keeps it and removes any newer response with its key")
    case .badFileName:
      .init(rawValue, .warning, "it wastes disk space, and nothing else ever removes it")
    // CFNetwork looks entries up by `request_key` alone. It writes the hash in 64 bits when it
    // inserts a row and in 32 bits when it updates one, and never reads it.
    case .wrongHash: .init(rawValue, .note, "no lookup uses this value")
    }
  }
}
