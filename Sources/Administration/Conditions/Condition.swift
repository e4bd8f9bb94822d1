import Bytes
import HTTPCaching
import ResponseStorage

/// A condition on a response, written as an expression: `host ^= "api." && age > 7d`.
///
/// Unknown values follow three-valued logic, like `NULL` in SQL: a comparison with an unknown value is unknown, and so
/// is its negation. Only responses for which the condition is true are selected.
public struct Condition: Hashable, Sendable {
  /// A parsed expression.
  indirect enum Expression: Hashable, Sendable {
    case all([Expression])
    case any([Expression])
    case not(Expression)
    case compare(ConditionSubject, Test)
  }

  /// A test of the value of a field.
  enum Test: Hashable, Sendable {
    case equals([ByteString])
    case beginsWith(ByteString)
    case endsWith(ByteString)
    case contains(ByteString)
    case within([ClosedRange<Double>])
    case less(Double, orEqual: Bool)
    case greater(Double, orEqual: Bool)
  }

  /// The expression, as written.
  public let text: String
  /// Notes for the user, such as the time that a date stands for.
  public let notes: [String]
  let expression: Expression
  /// The fields in the expression.
  let fields: Set<ConditionField>
  /// Whether it depends on freshness.
  let needsFreshness: Bool

  /// Reads an expression.
  public init(_ text: String) throws(ConditionError) {
    var parser = try ConditionParser(text)
    expression = try parser.whole()
    fields = expression.fields
    needsFreshness = fields.contains(where: \.needsFreshness)
    notes = parser.notes
    self.text = text
  }

  /// The alphabetically first field that depends on the rules of the configuration; `nil` if there is none.
  public var fieldOfRules: String? {
    fields.filter(\.needsRules).map(\.rawValue).min()
  }

  /// The texts that bodies are searched for.
  var bodyTexts: [ByteString] { expression.bodyTexts }

  /// Whether bodies are searched.
  public var searchesBodies: Bool { !bodyTexts.isEmpty }

  /// The fields that ``truth(of:in:)`` needs.
  ///
  /// - Parameter ageBasis: The time from which ages count.
  func projection(ageBasis: AgeBasis) -> Projection {
    fields.reduce(into: []) { $0.formUnion($1.projection(ageBasis: ageBasis)) }
  }
}

extension Condition.Expression {
  fileprivate var fields: Set<ConditionField> {
    switch self {
    case .all(let parts), .any(let parts): parts.reduce(into: []) { $0.formUnion($1.fields) }
    case .not(let part): part.fields
    case .compare(let subject, _): [subject.field]
    }
  }

  fileprivate var bodyTexts: [ByteString] {
    switch self {
    case .all(let parts), .any(let parts): parts.flatMap(\.bodyTexts)
    case .not(let part): part.bodyTexts
    case .compare(let subject, .contains(let text)): subject.field == .body ? [text] : []
    case .compare: []
    }
  }
}

/// An error in an expression, with its position.
public struct ConditionError: Error, Hashable, Sendable {
  /// The error: a clause without a subject, quoting the expression unchanged.
  public let reason: String
  /// The range in the expression, in UTF-8 bytes; empty at the end.
  public let range: Range<Int>
  /// What to write instead, or `nil`.
  public let hint: String?

  init(_ reason: String, at range: Range<Int>, hint: String? = nil) {
    (self.reason, self.range, self.hint) = (reason, range, hint)
  }
}

/// The context in which a condition is evaluated.
struct ConditionContext {
  /// The time that ages are relative to.
  var now: Timestamp
  /// The time from which ages count.
  var ageBasis: AgeBasis
  /// The freshness of the response; `nil` if unknown, or if no field needs it.
  var freshness: ResponseFreshness?
  /// Which bodies contain which texts; `nil` if no test needs it.
  var contents: BodyContents?
  /// The class of the response; `nil` if no field needs it.
  var entryClass: String?
  /// Whether a rule wants the response validated now; `nil` if no rule applies, or if its age is unknown.
  var isRevalidationDue: Bool?
}

extension Condition {
  /// Whether the condition is true; `nil` if that depends on an unknown value.
  func truth(of response: borrowing StoredResponse, in context: ConditionContext) -> Bool? {
    expression.truth(of: response, in: context)
  }

  /// Whether the condition needs a time that is unknown.
  func lacksTime(of response: borrowing StoredResponse, in context: ConditionContext) -> Bool {
    for field in fields {
      if let basis = field.timeBasis(context.ageBasis),
        basis.time(of: response, now: context.now) == nil
      {
        return true
      }
    }
    return false
  }
}

extension Condition.Expression {
  fileprivate func truth(
    of response: borrowing StoredResponse, in context: ConditionContext
  ) -> Bool? {
    switch self {
    case .compare(let subject, .contains(let text)) where subject.field == .body:
      return context.contents?.contains(text, response.id)
    case .compare(let subject, let test):
      return subject.value(of: response, in: context).map { test.holds(of: $0, subject.field) }
    // The negation of unknown is unknown. Otherwise `purge --where '!(age < 7d)'` would remove the
    // entries whose age is not known.
    case .not(let part):
      return part.truth(of: response, in: context).map { !$0 }
    case .all(let parts):
      // An unknown part does not decide: any false part makes the whole expression false.
      var result: Bool? = true
      for part in parts {
        guard let truth = part.truth(of: response, in: context) else {
          result = nil
          continue
        }
        if !truth { return false }
      }
      return result
    case .any(let parts):
      // An unknown part does not decide: any true part makes the whole expression true.
      var result: Bool? = false
      for part in parts {
        guard let truth = part.truth(of: response, in: context) else {
          result = nil
          continue
        }
        if truth { return true }
      }
      return result
    }
  }
}

extension Condition.Test {
  fileprivate func holds(of value: ConditionField.Value, _ field: ConditionField) -> Bool {
    switch (self, value) {
    case (_, .texts(let values)): values.contains { holds(of: .text($0), field) }
    // An app may have attached `"600"` as text or 600 as a number, and a user cannot see which.
    case (.equals(let texts), .property(let value)):
      texts.contains { value.equals($0, WrittenTime.moment($0)) }
    case (_, .property(let value)): value.ordered.map { holds(of: $0, field) } ?? false
    case (.equals(let texts), .text(let value)):
      // As for `--host`: a leading dot means the domain and all its subdomains.
      texts.contains { field == .host ? $0.covers(value) : $0 == value }
    case (.equals(let texts), .words(let words)):
      texts.contains { text in words.contains { text.bytes.elementsEqual($0.utf8) } }
    case (.beginsWith(let text), .text(let value)): value.bytes.starts(with: text.bytes)
    case (.endsWith(let text), .text(let value)):
      value.bytes.suffix(text.bytes.count).elementsEqual(text.bytes)
    case (.contains(let text), .text(let value)): value.contains(text)
    case (.within(let ranges), .number(let value)): ranges.contains { $0.contains(value) }
    case (.less(let bound, let orEqual), .number(let value)):
      orEqual ? value <= bound : value < bound
    case (.greater(let bound, let orEqual), .number(let value)):
      orEqual ? value >= bound : value > bound
    // The parser only accepts the operators of the field's kind.
    default: false
    }
  }
}

extension ConditionSubject {
  /// Returns the value to compare; `nil` if it is unknown, or if the response has no value with the name.
  fileprivate func value(
    of response: borrowing StoredResponse, in context: ConditionContext
  ) -> ConditionField.Value? {
    switch field {
    case .query:
      guard let values = response.url.map({ URLQuery.values(of: name, in: $0) }), !values.isEmpty
      else {
        return nil
      }
      return .texts(values)
    case .header: return Self.values(of: response.responseHeaders, named: name)
    case .requestHeader: return Self.values(of: response.request.headers, named: name)
    case .userInfo: return response.userInfo.value(for: name).map { .property($0) }
    default: return field.value(of: response, in: context)
    }
  }
}

extension ConditionSubject {
  private static func values(
    of headers: HeaderFields?, named name: ByteString
  ) -> ConditionField.Value? {
    guard let values = headers?.values(named: name), !values.isEmpty else { return nil }
    return .texts(values)
  }
}

extension ConditionField {
  /// The value of a field.
  enum Value {
    case text(ByteString)
    /// Texts; one of them must pass the test.
    case texts([ByteString])
    case property(StoredResponse.PropertyValue)
    /// The words that apply to the field.
    case words([String])
    case number(Double)
  }

  /// Returns the value of a field that takes no name; `nil` if unknown.
  fileprivate func value(
    of response: borrowing StoredResponse, in context: ConditionContext
  ) -> Value? {
    if let basis = timeBasis(context.ageBasis) {
      return basis.time(of: response, now: context.now).map { time in
        .number(self == .age ? time.age(at: context.now) : time.secondsSince1970)
      }
    }
    if needsFreshness { return context.freshness.flatMap { value(of: $0) } }
    switch self {
    case .entryClass: return context.entryClass.map { .text(ByteString($0)) }
    case .revalidation:
      return context.isRevalidationDue.map { .words([Self.word(forRevalidationDue: $0)]) }
    case .host: return hosts(of: response)
    case .status: return response.status.map { .number(Double($0)) }
    case .size: return response.bodySize.map { .number(Double($0)) }
    // Unknown if no length was announced for the stored bytes. That includes bodies with a content
    // coding: `URLCache` stores them decoded, and `Content-Length` counts the coded bytes (RFC 9110
    // §8.6).
    case .received:
      return Exchange(of: response).flatMap { ReceivedBody(of: $0) }.map { .number($0.percent) }
    case .body: return response.bodyLocation.map { .words([$0.rawValue]) }
    case .partial:
      return BodyCompleteness(of: response).map { .words(["\($0 == .partial)"]) }
    case .storagePolicy: return response.storagePolicy.map { .words([$0.name]) }
    default: return text(of: response).map { .text($0) }
    }
  }

  /// Returns the host in all its spellings: parts of it are compared with each.
  private func hosts(of response: borrowing StoredResponse) -> Value? {
    guard let url = response.url, let host = CanonicalURL.host(of: url) else { return nil }
    if CanonicalURL.hasPlainHost(url.bytes) { return .text(host) }
    let ascii = HostName.ascii(host.bytes[...]).map { ByteString($0) } ?? host
    return .texts([ascii, ByteString(HostName.unicode(host.bytes[...])), host])
  }

  private func text(of response: borrowing StoredResponse) -> ByteString? {
    switch self {
    // An entry that cannot be decoded has no URL, and must still be selectable to be removed.
    case .url: response.url ?? response.key
    case .key: response.key
    case .path: response.url.flatMap { CanonicalURL.path(of: $0) }
    case .scheme: response.url.flatMap { CanonicalURL.scheme(of: $0) }
    case .method: response.request.method?.asciiLowercased
    case .mime: response.mimeType?.asciiLowercased
    case .partition: response.partition
    case .etag: response.responseHeaders?.firstValue(named: "etag")
    // Several lines of a list-based field are one list (RFC 9110 §5.3), so a directive may be in
    // any of them.
    case .cacheControl:
      response.responseHeaders?.joinedValue(named: "cache-control")?.asciiLowercased
    default: nil
    }
  }

  private func value(of freshness: ResponseFreshness) -> Value? {
    switch self {
    case .freshness: .words([freshness.state.rawValue])
    case .validator:
      .words(ResponseFreshness.ValidatorKind.allCases.filter(freshness.has).map(\.rawValue))
    case .ttl: freshness.remainingSeconds.map { .number(Double($0)) }
    case .lifetime: freshness.lifetimeSeconds.map { .number(Double($0)) }
    case .currentAge: .number(Double(freshness.freshness.age.seconds))
    case .expiresAt: freshness.expiresAt.map { .number($0.secondsSince1970) }
    default: nil
    }
  }
}

extension StoredResponse.PropertyValue {
  /// The value as text or a number, for comparison; `nil` if it is neither. A date becomes seconds since 1970.
  fileprivate var ordered: ConditionField.Value? {
    switch self {
    case .text(let text): .text(text)
    case .integer(let number): .number(Double(number))
    case .real(let number): .number(number)
    case .date(let time): .number(time.secondsSince1970)
    case .boolean, .null, .data, .array, .dictionary, .opaque: nil
    }
  }
}

extension ByteString {
  // By bytes: `String.contains` compares grapheme clusters, so a combining mark after the text,
  // which a server can send, would hide it.
  /// Whether this text contains `part`.
  fileprivate func contains(_ part: ByteString) -> Bool {
    guard let first = part.bytes.first else { return true }
    var rest = bytes[...]
    while rest.count >= part.bytes.count, let start = rest.firstIndex(of: first) {
      if rest[start...].starts(with: part.bytes) { return true }
      rest = rest[(start + 1)...]
    }
    return false
  }
}
