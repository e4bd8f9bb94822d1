public import Bytes
import HTTPCaching
public import ResponseStorage

/// A field of an entry: what a list can show and sort by, what SQL can query, and what a condition can test.
///
/// All fields are in one table, ``all``. Columns, `--sort`, `--where`, tables in SQL, members in JSON and completions
/// follow from its rows.
public struct EntryField: Sendable {
  /// The name on the command line, in lowercase with hyphens.
  public let name: String
  /// What the value is.
  public let kind: Kind
  /// The key of a field that has many values, as in `user-info:KEY` and `query("KEY")`.
  public var key: ByteString?

  let scope: Scope
  /// Whether a condition must give a ``key``; a list can show all values together.
  let takesKey: Bool
  /// How the value that a list shows is read, the one that a condition compares, and the one that a list is sorted by.
  private let (read, compared, sorted): (Read, Read, Read)

  init(
    _ name: String, _ kind: Kind, in scope: Scope = .everywhere, takesKey: Bool = false,
    _ read: Read, compared: Read? = nil, sorted: Read? = nil
  ) {
    (self.name, self.kind, self.scope, self.takesKey) = (name, kind, scope, takesKey)
    (self.read, self.compared, self.sorted) = (read, compared ?? read, sorted ?? read)
  }

  /// Where a field can be used.
  enum Scope: Hashable, Sendable {
    /// In lists, queries and conditions.
    case everywhere
    /// In lists and queries.
    case lists
    /// In a list for which the folder of sidecar files is known.
    case sidecars
    /// In a list of recovered entries.
    case recovered
    case conditions
    /// In conditions for which the rules of the configuration are known.
    case rules
  }

  /// What a value is: how it is aligned and ordered, and how conditions compare it.
  public enum Kind: Hashable, Sendable {
    /// A number in an Apple cache, the name of a file in a Foundation cache.
    case id
    case text(ignoringCase: Bool)
    /// One of several words.
    case word([String])
    /// One of several words for where the body is, or with `*=` a text in it.
    case body([String])
    /// What the app attached: text, a number, a Boolean, a date, or all of it.
    case attached
    /// Several values.
    case list
    case status
    /// A number of bytes.
    case size
    /// A percentage.
    case share
    /// The number of seconds since a time.
    case age
    /// A number of seconds.
    case duration
    /// The number of seconds until a time, in words for people.
    case remaining
    case time
    /// A time that often is in the future.
    case expiry
    /// A header field with a time. A list shows its text.
    case date

    static let text = Self.text(ignoringCase: false)
  }

  /// A value, before secrets in it are masked.
  public enum Value: Sendable {
    case integer(Int64)
    /// A number of bytes.
    case byteCount(ByteCount)
    /// A share in whole percent, and exactly.
    case percent(Int64, exactly: Double)
    /// Text from the cache.
    case text(ByteString)
    case url(ByteString)
    /// The name of a file, which is the id of an entry.
    case fileName(ByteString)
    case urlPart(URLPart, of: ByteString)
    /// Texts; one of them must pass the test of a condition.
    case texts([ByteString])
    /// A word of this tool.
    case word(String)
    /// Freshness; `nil` if it is unknown.
    case freshness(ResponseFreshness.State?)
    case time(Timestamp)
    /// The time from which an age is measured.
    case age(Timestamp)
    /// A number of seconds.
    case duration(Int64)
    /// The seconds for which the response remains fresh, 0 or less if it is stale; `nil` if it has no lifetime.
    case remainingLifetime(Int64?)
    case headers(HeaderFields)
    case notes([StoredResponse.Note])
    case property(ByteString, StoredResponse.PropertyValue)
    case properties([StoredResponse.Property])
  }

  /// A part of a URL.
  public enum URLPart: Hashable, Sendable {
    case scheme
    case host
    case path

    /// Returns the part of a URL; `nil` if it has none.
    public func text(of url: ByteString) -> ByteString? {
      switch self {
      case .scheme: CanonicalURL.scheme(of: url)
      case .host: CanonicalURL.host(of: url)
      case .path: CanonicalURL.path(of: url)
      }
    }
  }

  /// How a value is read, with the parts of a response to decode for it.
  enum Read: Sendable {
    case part(Projection, @Sendable (borrowing StoredResponse) -> Value?)
    /// For the key of the field.
    case keyed(Projection, @Sendable (borrowing StoredResponse, ByteString?) -> Value?)
    case freshness(@Sendable (borrowing ResponseFreshness) -> Value?)
    case context(
      Projection, @Sendable (borrowing StoredResponse, borrowing EntryContext) -> Value?)
    /// `nil` means the time from which ages count.
    case time(AgeBasis?)

    var projection: Projection {
      switch self {
      case .part(let projection, _), .keyed(let projection, _), .context(let projection, _):
        projection
      case .freshness: ResponseFreshness.projection
      case .time(let basis): basis?.projection ?? []
      }
    }

    /// Returns the value; `nil` if it is unknown.
    func value(
      of response: borrowing StoredResponse, _ key: ByteString?, in context: borrowing EntryContext
    ) -> Value? {
      switch self {
      case .part(_, let read): return read(response)
      case .keyed(_, let read): return read(response, key)
      case .context(_, let read): return read(response, context)
      case .freshness(let read):
        if let freshness = context.freshness { return read(freshness) }
        return ResponseFreshness(of: response, at: context.now, rules: context.expiryRules)
          .flatMap { read($0) }
      case .time(let basis):
        let time = (basis ?? context.ageBasis).time(of: response, now: context.now)
        return time.map { basis == nil ? .age($0) : .time($0) }
      }
    }

    /// Returns a reader of entries for which this is known.
    fileprivate func reader(_ key: ByteString?, in context: EntryContext) -> Reader {
      switch self {
      // Most columns need nothing but the response. Copying the key and the context for each cell would take a tenth of the
      // time of a long list.
      case .part(_, let read): Reader(value: read)
      case .keyed, .context, .freshness, .time: Reader { value(of: $0, key, in: context) }
      }
    }
  }

  /// Reads a value of many entries.
  public struct Reader: Sendable {
    /// Returns the value; `nil` if it is unknown.
    public let value: @Sendable (borrowing StoredResponse) -> Value?
  }
}

/// What else is known when fields of an entry are read.
public struct EntryContext: Sendable {
  /// The time for which freshness is evaluated, and to which ages are measured.
  public var now: Timestamp
  /// The expiry rules of apps, which affect freshness.
  public var expiryRules: [UserInfoExpiry.Rule]
  /// The sidecar files of a list that shows them.
  public var sidecars: SidecarTags?
  /// What is known of all entries of a list of recovered ones.
  public var recovered: RecoveredFacts?

  /// The time from which ages count.
  var ageBasis = AgeBasis.stored
  /// The freshness of the response, if it is known already.
  var freshness: ResponseFreshness?
  /// Which bodies contain which texts; `nil` if no test needs it.
  var contents: BodyContents?
  /// The class of the response; `nil` if no field needs it.
  var entryClass: String?
  /// Whether a rule wants the response validated now; `nil` if no rule applies, or if its age is unknown.
  var isRevalidationDue: Bool?

  /// Creates a context of any response.
  public init(now: Timestamp, expiryRules: [UserInfoExpiry.Rule]) {
    (self.now, self.expiryRules) = (now, expiryRules)
  }
}

extension EntryField {
  /// The parts of a response to decode for a list.
  public var projection: Projection { read.projection }

  /// The parts of a response to decode for the order of a list.
  public var orderProjection: Projection { sorted.projection }

  /// Returns a reader of the value in a list.
  public func shown(in context: EntryContext) -> Reader { read.reader(key, in: context) }

  /// Returns a reader of the value that a list is sorted by.
  public func ordered(in context: EntryContext) -> Reader { sorted.reader(key, in: context) }

  /// Returns the parts of a response to decode for ``comparedValue(of:in:)``.
  ///
  /// - Parameter ageBasis: The time from which ages count.
  func comparedProjection(ageBasis: AgeBasis) -> Projection {
    timeBasis(ageBasis)?.projection ?? compared.projection
  }

  /// Returns the value that a condition compares; `nil` if it is unknown, or if there is none with the ``key``.
  func comparedValue(
    of response: borrowing StoredResponse, in context: borrowing EntryContext
  ) -> Value? {
    compared.value(of: response, key, in: context)
  }

  /// Returns the time that the compared value depends on, if there is one.
  ///
  /// - Parameter ageBasis: The time from which ages count.
  func timeBasis(_ ageBasis: AgeBasis) -> AgeBasis? {
    if case .time(let basis) = compared { basis ?? ageBasis } else { nil }
  }

  /// Whether the compared value depends on freshness.
  var needsFreshness: Bool {
    if case .freshness = compared { true } else { false }
  }
}

extension EntryField.Value {
  /// What a list is sorted by.
  public var order: EntryPlace.Key {
    number.map { .number($0) } ?? text.map { .text($0) } ?? .unknown
  }

  /// The number that the value is, or the number of values in it; `nil` if it is a text.
  var number: Double? {
    switch self {
    case .integer(let number), .duration(let number): Double(number)
    case .byteCount(let count): Double(count)
    case .percent(_, let exactly): exactly
    case .time(let time): time.secondsSince1970
    // The entry stored first has the largest age.
    case .age(let time): -time.secondsSince1970
    case .remainingLifetime(let seconds): seconds.map { Double($0) }
    case .headers(let headers): Double(headers.fields.count)
    case .notes(let notes): Double(notes.count)
    case .properties(let properties): Double(properties.count)
    case .property(_, let value): value.number
    case .text, .url, .urlPart, .fileName, .texts, .word, .freshness: nil
    }
  }

  /// The text that the value is.
  var text: ByteString? {
    switch self {
    case .text(let text), .url(let text), .fileName(let text): text
    case .urlPart(let part, let url): part.text(of: url)
    case .word(let word): ByteString(word)
    case .freshness(let state): state.map { ByteString($0.rawValue) }
    case .property(_, .text(let text)): text
    default: nil
    }
  }
}

extension StoredResponse.PropertyValue {
  fileprivate var number: Double? {
    switch self {
    case .boolean(let flag): flag ? 1 : 0
    case .integer(let number): Double(number)
    // NaN has no order.
    case .real(let number): number.isNaN ? nil : number
    case .date(let time): time.secondsSince1970
    case .null, .text, .data, .array, .dictionary, .opaque: nil
    }
  }
}

/// A literal is the name of a field in the table.
extension EntryField: Hashable, ExpressibleByStringLiteral {
  public init(stringLiteral name: StaticString) {
    guard let field = Self.all.first(where: { $0.name == name.description }) else {
      preconditionFailure("there is no field '\(name)'")
    }
    self = field
  }

  public static func == (one: EntryField, other: EntryField) -> Bool {
    one.name == other.name && one.key == other.key
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(key)
  }
}

extension EntryField {
  /// The columns of a list, in their order; those that take a key are included without one.
  public static let columns = all.filter { [.everywhere, .lists, .sidecars].contains($0.scope) }

  /// The columns that only recovered entries have.
  public static let recoveredColumns = all.filter { $0.scope == .recovered }

  /// The fields that a condition can test.
  static let conditions = all.filter { [.everywhere, .conditions, .rules].contains($0.scope) }

  /// Finds a column by its name on the command line: a name from ``columns``, `user-info:KEY` or `proto-props:KEY`.
  public init?(column name: String) {
    if let field = Self.columns.first(where: { $0.name == name }) {
      self = field
      return
    }
    guard let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")),
      let field = Self.columns.first(where: { $0.takesKey && $0.name == name[..<colon] })
    else { return nil }
    let key = Array(name.utf8[colon...].dropFirst())
    // An empty key is most likely a typing error, and would silently show an empty column.
    if key.isEmpty { return nil }
    self = field
    self.key = ByteString(key)
  }

  /// Whether the column needs sidecar files.
  public var needsSidecars: Bool { scope == .sidecars }

  /// Whether a condition with the field depends on the rules of the configuration.
  var needsRules: Bool { scope == .rules }

  /// The name in JSON, in SQL and in delimited text: with `_` for `-`. A key in it is unchanged.
  public var jsonName: ByteString {
    named(name.utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 })
  }

  /// Returns `name`, with a colon and the key if the field has one.
  public func named(_ name: [UInt8]) -> ByteString {
    ByteString(name + (key.map { [UInt8(ascii: ":")] + $0.bytes } ?? []))
  }
}

extension Sequence<EntryField> {
  /// The parts of a response to decode for these columns.
  public var projection: Projection {
    reduce(into: []) { $0.formUnion($1.projection) }
  }
}
