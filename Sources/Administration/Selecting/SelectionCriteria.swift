public import Bytes
public import Matching
public import ResponseStorage

/// The criteria for selecting entries, as given by options or a rule of the configuration.
///
/// Ages are relative; a ``Selection`` makes them absolute.
@dynamicMemberLookup
public struct SelectionCriteria: Sendable {
  /// The named entries; `nil` if none were requested by name.
  public var names: [EntryNames.Name]?
  /// The criteria that mean the same at any time.
  public var criteria = EntryCriteria()
  /// The age that entries must exceed, in seconds.
  public var olderThan: Double?
  /// The age that entries must not have reached, in seconds.
  public var newerThan: Double?
  /// The time before which entries must be stored.
  public var storedBefore: WrittenTime?
  /// The time after which entries must be stored.
  public var storedAfter: WrittenTime?
  /// The time from which ages count.
  public var ageBasis: AgeBasis?
  /// The expiry rules of the app, without the built-in ones.
  public var expiryRules: [UserInfoExpiry.Rule] = []

  /// Creates criteria that match every response.
  public init() {}

  /// Accesses one of the ``criteria``.
  public subscript<Value>(dynamicMember member: WritableKeyPath<EntryCriteria, Value>) -> Value {
    get { criteria[keyPath: member] }
    set { criteria[keyPath: member] = newValue }
  }

  /// Notes for the user: times that dates stand for, and schemes that look like hosts.
  public var notes: [String] {
    let beginnings =
      criteria.prefixes.compactMap(\.written.string) + criteria.globs.compactMap(\.beginning)
    return [storedBefore?.note, storedAfter?.note].compactMap { $0 }
      + beginnings.compactMap { WrittenValue.schemeNote(about: $0) }
      + criteria.conditions.flatMap(\.notes)
  }

  /// Returns the selection, with ages relative to `now`.
  public func selection(at now: Timestamp) -> Selection {
    var selection = Selection()
    selection.criteria = criteria
    selection.names = names.map { EntryNames($0) }
    selection.ageBasis = ageBasis ?? selection.ageBasis
    let olderBound = olderThan.map { AgeLimit($0, at: now).cutoff }
    let newerBound = newerThan.map { AgeLimit($0, at: now).cutoff }
    // Of two bounds, the stricter one. Each alone would select more than the user asked for.
    selection.before = [olderBound, storedBefore?.time].compactMap { $0 }.min()
    selection.after = [newerBound, storedAfter?.time].compactMap { $0 }.max()
    selection.expiryRules = UserInfoExpiry.rules(adding: expiryRules)
    return selection
  }
}

extension SelectionCriteria {
  /// The name of a criterion in a rule of the configuration, which is that of the option.
  public enum Name: String, Hashable, Sendable, CaseIterable {
    case url, id, prefix, glob, regex, host, query, header
    case requestHeader = "request-header"
    case method, status, mime
    case olderThan = "older-than"
    case newerThan = "newer-than"
    case storedBefore = "stored-before"
    case storedAfter = "stored-after"
    case since
    case ageBasis = "age-basis"
    case largerThan = "larger-than"
    case smallerThan = "smaller-than"
    case body, partial, partition
    case storagePolicy = "storage-policy"
    case userInfo = "user-info"
    case fresh, stale
    case noLifetime = "no-lifetime"
    case expiresWithin = "expires-within"
    case validator
    case userInfoExpiry = "user-info-expiry"
    case `where`

    /// Whether the criterion has no value.
    var isFlag: Bool { [.fresh, .stale, .noLifetime, .partial].contains(self) }

    /// Whether the criterion takes several values, any of which may match.
    var takesSeveral: Bool {
      switch self {
      case .olderThan, .newerThan, .storedBefore, .storedAfter, .since, .ageBasis, .largerThan,
        .smallerThan, .expiresWithin, .fresh, .stale, .noLifetime, .partial:
        false
      default: true
      }
    }
  }

  /// Adds a criterion without a value; does nothing if it needs one.
  mutating func add(_ flag: Name) {
    switch flag {
    case .fresh: criteria.freshness.insert(.fresh)
    case .stale: criteria.freshness.insert(.stale)
    case .noLifetime: criteria.freshness.insert(.noLifetime)
    case .partial: criteria.isPartial = true
    default: break
    }
  }

  /// Adds a value of a criterion; does nothing for ``Name/where``, whose errors have positions.
  mutating func add(_ name: Name, _ text: String) throws(WrittenValueError) {
    let isEmptyText = text.isEmpty
    switch name {
    case .url: names = (names ?? []) + [try EntryNames.Name(written: text)]
    case .id: names = (names ?? []) + [.id(try Self.id(text))]
    case .prefix, .glob, .regex, .host, .method, .mime:
      // Every URL begins with an empty text: `purge --prefix "$UNSET"` once selected all entries.
      if isEmptyText {
        throw WrittenValueError(text, "is empty", hint: "remove the criterion")
      }
      try addText(name, text)
    case .header: criteria.headers.append(try HeaderCriterion(written: text))
    case .requestHeader: criteria.requestHeaders.append(try HeaderCriterion(written: text))
    case .query: criteria.parameters.append(try ParameterCriterion(written: text))
    case .status: criteria.statuses += try WrittenValue.statuses(text)
    case .olderThan: olderThan = try WrittenValue.duration(text)
    case .newerThan: newerThan = try WrittenValue.duration(text)
    case .storedBefore: storedBefore = try WrittenTime(text)
    case .storedAfter, .since: storedAfter = try WrittenTime(text)
    case .ageBasis: ageBasis = try AgeBasis(written: text)
    case .largerThan: criteria.largerThan = try WrittenValue.size(text)
    case .smallerThan: criteria.smallerThan = try WrittenValue.size(text)
    case .body: criteria.bodyLocations.insert(try Self.word(text))
    case .partition: criteria.partitions.insert(try WrittenValue.partition(text))
    case .storagePolicy:
      criteria.storagePolicies.insert(try StoredResponse.StoragePolicy(written: text))
    case .userInfo: criteria.userInfo.append(try PropertyCriterion(written: text))
    case .expiresWithin: criteria.expiresWithin = try WrittenValue.duration(text)
    case .validator: criteria.validators.insert(try Self.word(text))
    case .userInfoExpiry: expiryRules.append(try UserInfoExpiry.Rule(written: text))
    case .fresh, .stale, .noLifetime, .partial, .where: break
    }
  }

  private mutating func addText(_ name: Name, _ text: String) throws(WrittenValueError) {
    switch name {
    case .prefix: criteria.prefixes.append(try WrittenValue.prefix(text))
    case .glob: criteria.globs.append(try Glob(url: text))
    case .regex: criteria.expressions.append(try RegularExpression(written: text))
    case .host: criteria.hosts.append(try WrittenValue.host(text))
    case .method: criteria.methods.append(try WrittenValue.method(text))
    case .mime: criteria.mimeTypes.append(try Glob(mimeType: text))
    default: break
    }
  }

  private static func id(_ text: String) throws(WrittenValueError) -> StoredResponse.ID {
    guard let id = StoredResponse.ID(text) else {
      throw WrittenValueError(
        text, "is not an id", hint: "'urlcache-admin list' shows the ids")
    }
    return id
  }

  private static func word<Word: CaseIterable & RawRepresentable<String>>(
    _ text: String
  ) throws(WrittenValueError) -> Word {
    guard let word = Word(rawValue: text) else {
      throw WrittenValueError(
        text, "is not one of the allowed values",
        hint: "use one of: " + Word.allCases.map(\.rawValue).joined(separator: ", "))
    }
    return word
  }
}

extension EntryNames.Name {
  /// Parses a URL or an id.
  public init(written text: String) throws(WrittenValueError) {
    // No URL can be taken for an id: ids are numbers, or file names of a form that has no scheme.
    if let id = StoredResponse.ID(text) {
      self = .id(id)
    } else if CanonicalURL.scheme(of: ByteString(text)) != nil {
      self = .url(ByteString(text))
    } else {
      throw WrittenValueError(
        text, "is neither a URL nor an id",
        hint: "use a full URL; 'prefix' and 'glob' match part of a URL")
    }
  }
}

extension StoredResponse.StoragePolicy {
  /// Parses the name of a policy, or the number of one that `URLCache` does not define.
  public init(written text: String) throws(WrittenValueError) {
    let known = [Self.allowed, .allowedInMemoryOnly, .notAllowed]
    if let policy = known.first(where: { $0.name.utf8.elementsEqual(text.utf8) }) {
      self = policy
    } else if let number = Int64(text), !(0...2).contains(number) {
      self = .unknown(number)
    } else {
      throw WrittenValueError(
        text, "is not a storage policy", hint: "use one of: " + Self.names.joined(separator: ", "))
    }
  }
}

extension AgeBasis {
  /// Parses the name of an age basis.
  public init(written text: String) throws(WrittenValueError) {
    guard let basis = AgeBasis(name: text) else {
      throw WrittenValueError(
        text, "is not an age basis",
        hint: "use one of: stored, first-stored, date, last-modified, user-info:KEY")
    }
    self = basis
  }
}

extension Glob {
  /// Parses a pattern.
  public init(written text: String) throws(WrittenValueError) {
    guard let glob = Glob(text) else {
      throw WrittenValueError(
        text, "has a '[' without a matching ']'",
        hint: "use '\\[' for a literal bracket")
    }
    self = glob
  }

  /// The registered top-level media types, except those of ``typesOfWords``.
  private static let mediaTypes: Set = [
    "application", "audio", "example", "haptics", "image", "message", "model", "multipart",
    "text", "video",
  ]

  /// Whether a word is a top-level media type.
  static func isMediaType(_ word: String) -> Bool {
    let word = ByteString(word).asciiLowercased.string ?? ""
    return mediaTypes.contains(word) || word == "font"
  }

  /// The media types of some words and file name extensions.
  private static let typesOfWords = [
    // Also 'application/problem+json' and 'text/json'.
    "json": "*[/+]json",
    // Also 'application/font-woff' and 'application/vnd.ms-fontobject', from before RFC 8081.
    "font": "*font*", "fonts": "*font*",
    "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif",
    "webp": "image/webp", "svg": "image/svg+xml", "html": "text/html", "css": "text/css",
    "js": "*/*javascript", "javascript": "*/*javascript", "xml": "*[/+]xml",
    "pdf": "application/pdf",
  ]

  /// Parses a pattern for media types and lowercases it; `image` stands for `image/*`. Rejects other text without `/` or
  /// wildcards, which matches no type.
  public init(mimeType text: String) throws(WrittenValueError) {
    let isPattern = text.utf8.contains(where: { "*?[".utf8.contains($0) })
    let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: true)
    let lowercased = ByteString(text).asciiLowercased.string ?? text
    guard isPattern || parts.count > 1 else {
      let word = parts.first.map { ByteString(Array($0)).asciiLowercased.string ?? "" } ?? ""
      if let type = Self.typesOfWords[lowercased] ?? Self.typesOfWords[word] {
        try self.init(written: type)
        return
      }
      // 'images' means 'image'.
      let isPlural = lowercased.utf8.last == UInt8(ascii: "s")
      let plural = isPlural ? String(lowercased.dropLast()) : ""
      if Self.mediaTypes.contains(plural) {
        try self.init(written: plural + "/*")
        return
      }
      guard Self.mediaTypes.contains(word) else {
        throw WrittenValueError(
          text, "is not a media type",
          hint: word.isEmpty
            ? "write a type such as 'image' or 'text/html'"
            : "write a type such as 'image' or 'text/html', or '*/\(word)' for all with that subtype"
        )
      }
      try self.init(written: word + "/*")
      return
    }
    try self.init(written: lowercased)
  }
}

extension RegularExpression {
  /// Parses a regular expression for whole texts.
  public convenience init(written text: String) throws(WrittenValueError) {
    do throws(SyntaxError) { try self.init(text, .matchesWholeText) } catch {
      throw WrittenValueError(
        text, "is not a regular expression: \(error.reason), at character \(error.character)",
        hint: "quote it for the shell, or use 'glob' for simple patterns")
    }
  }
}

extension PropertyCriterion {
  /// Parses `KEY` or `KEY=VALUE`, split at the first `=`.
  public init(written text: String) throws(WrittenValueError) {
    let parts = text.utf8.split(
      separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
    guard !parts[0].isEmpty else {
      throw WrittenValueError(text, "does not name a key", hint: "use 'KEY' or 'KEY=VALUE'")
    }
    let value = parts.count > 1 ? String(decoding: Array(parts[1]), as: UTF8.self) : nil
    let written = value.map { ByteString($0) }
    self.init(
      key: ByteString(Array(parts[0])), value: written,
      moment: written.flatMap { WrittenTime.moment($0) })
  }
}

extension UserInfoExpiry.Rule {
  /// Parses `KEY=SECONDS`, split at the last `=`; seconds without or with a unit.
  public init(written text: String) throws(WrittenValueError) {
    let bytes = Array(text.utf8)
    // The last `=`, because a key may contain one, and a number cannot.
    guard let sign = bytes.lastIndex(of: UInt8(ascii: "=")), sign > 0,
      let seconds = Self.seconds(bytes[(sign + 1)...])
    else {
      throw WrittenValueError(
        text, "is not an expiry rule",
        hint: "use a key and a number of seconds, for example 'Cached Date=3600'")
    }
    self.init(key: ByteString(Array(bytes[..<sign])), seconds: seconds)
  }

  private static func seconds(_ bytes: ArraySlice<UInt8>) -> Int64? {
    let number = String(decoding: bytes, as: UTF8.self)
    return bytes.allSatisfy(\.isASCIIDigit)
      ? Int64(number) : (try? WrittenValue.duration(number)).map { Int64($0) }
  }
}
