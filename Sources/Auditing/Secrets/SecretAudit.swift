import Administration
import Bytes
import ResponseArchives
import ResponseStorage
import Secrets

/// The search of one entry for secrets.
struct SecretAudit: Sendable {
  /// The time with which expiries are compared.
  let now: Timestamp

  /// What was found in one entry.
  struct Result {
    private var found = FoundSecrets(most: 10_000)

    /// Whether the body could be decoded to its end.
    var isComplete = true

    /// The findings.
    var findings: [AuditFinding] { found.findings }

    /// Adds a secret. One that is at the same place several times is one finding.
    mutating func insert(_ match: SecretMatch, _ place: AuditPlace) {
      let key = FoundSecrets.Key(value: match.value, rule: match.rule, place: place)
      if found.recount(key) { return }
      found.insert(
        AuditFinding(AuditRule(match.rule), place, detail: match.name, secret: match), as: key)
    }
  }

  /// Searches an entry.
  ///
  /// - Throws: The error of a store that cannot be read.
  func findings(
    on response: borrowing StoredResponse, _ body: ScannedBody
  ) throws -> Result {
    var result = Result()
    if let url = response.url ?? response.key { search(url.bytes, .url, &result) }
    // The key has the same URL, unless the response was redirected.
    if let url = response.request.url, url != response.url { search(url.bytes, .url, &result) }
    for field in response.request.headers?.fields ?? [] {
      for match in FieldSecrets(now: now).matches(in: field.value, named: field.name) {
        result.insert(match, .requestField(field.name))
      }
    }
    if let sent = response.request.body { searchRequestBody(sent, response, &result) }
    for field in response.responseHeaders?.fields ?? [] {
      for match in FieldSecrets(now: now).matches(in: field.value, named: field.name) {
        result.insert(match, .responseField(field.name))
      }
    }
    for property in response.userInfo {
      search(property.value, .userInfo(property.key), named: property.key, &result)
    }
    for property in response.protocolProperties {
      search(property.value, .property(property.key), named: property.key, &result)
    }
    try search(body, of: response, &result)
    return result
  }

  private func search(_ text: [UInt8], _ place: AuditPlace, _ result: inout Result) {
    for match in URLSecretSearch.matches(in: text, now: now) { result.insert(match, place) }
  }

  private func searchRequestBody(
    _ body: [UInt8], _ response: borrowing StoredResponse, _ result: inout Result
  ) {
    let type = response.request.headers?.firstValue(named: "content-type")?.bytes ?? []
    let isForm =
      type.isEmpty
      ? !body.prefix(64).contains(UInt8(ascii: "{")) : type.starts(with: "application/x-www".utf8)
    if isForm, body.count <= 1 << 20 { return search(body, .requestBody, &result) }
    for match in SecretScanner.matches(in: body, .text, now: now) {
      result.insert(match, .requestBody)
    }
  }

  /// Searches a value of a property list, which can have values in it.
  private func search(
    _ value: StoredResponse.PropertyValue, _ place: AuditPlace, named name: ByteString,
    _ result: inout Result
  ) {
    switch value {
    case .text(let text):
      // As a field, because a value of its own has no name before it.
      for match in FieldSecrets(now: now).matches(in: text, named: name) {
        result.insert(match, place)
      }
    case .data(let data):
      for match in SecretScanner.matches(in: data, .text, now: now) { result.insert(match, place) }
    case .array(let values): for value in values { search(value, place, named: name, &result) }
    case .dictionary(let members):
      for member in members { search(member.value, place, named: member.key, &result) }
    case .null, .boolean, .integer, .real, .date, .opaque: break
    }
  }

  private func search(
    _ body: ScannedBody, of response: borrowing StoredResponse, _ result: inout Result
  ) throws {
    var scanner = SecretScanner(Self.context(of: response), now: now)
    var found = result
    let text = BodyText(of: response)
    do {
      _ = try body.read { reader in
        try text.forEachPiece(of: &reader) { piece in
          scanner.append(piece) { found.insert($0, .body) }
        }
      }
    } catch is BodyDecodingError {
      found.isComplete = false
    } catch is UnknownCoding {
      found.isComplete = false
    }
    scanner.finish { found.insert($0, .body) }
    result = found
  }

  /// What the body of a response is, by its media type.
  private static func context(of response: borrowing StoredResponse) -> SecretDetector.Context {
    let type =
      (response.mimeType ?? response.responseHeaders?.firstValue(named: "content-type"))?
      .asciiLowercased.bytes ?? []
    func has(_ word: StaticString) -> Bool {
      let word = Array(word.description.utf8)
      return type.count >= word.count
        && (0...type.count - word.count).contains {
          type[$0..<$0 + word.count].elementsEqual(word)
        }
    }
    if type.starts(with: "application/x-www-form".utf8) { return .fields }
    return has("javascript") || has("ecmascript") || has("html") || has("css") ? .script : .text
  }
}

/// Secrets that were found, each once, up to a limit: a hostile cache can have any number.
struct FoundSecrets {
  /// What makes two secrets the same.
  struct Key: Hashable {
    /// The secret.
    let value: ByteString
    /// The rule; `nil` if it does not matter.
    var rule: SecretRule?
    /// The place; `nil` if it does not matter.
    var place: AuditPlace?
  }

  /// The findings, in the order in which they were found.
  private(set) var findings: [AuditFinding] = []

  private var indices: [Key: Int] = [:]
  private let most: Int

  /// Creates an empty collection of at most this many secrets.
  init(most: Int) { self.most = most }

  /// Counts a secret that was found before once more.
  ///
  /// - Returns: `false` if it was not found before.
  mutating func recount(_ key: Key) -> Bool {
    guard let index = indices[key] else { return false }
    findings[index].count += 1
    return true
  }

  /// Adds a secret that was not found before, unless there are too many.
  ///
  /// - Returns: Whether it was added.
  @discardableResult
  mutating func insert(_ finding: @autoclosure () -> AuditFinding, as key: Key) -> Bool {
    guard findings.count < most else { return false }
    indices[key] = findings.count
    findings.append(finding())
    return true
  }
}

/// The secrets that entries have, so that they are not reported again where older versions of the entries are.
///
/// Beyond a limit, secrets are not remembered, and are reported there as well.
public struct KnownSecrets: Sendable {
  private var numbers: Set<UInt64> = []
  private let most: Int

  /// Creates an empty collection.
  ///
  /// - Parameter most: The most secrets that are remembered. A million take some tens of megabytes.
  init(most: Int = 1 << 20) { self.most = most }

  /// Remembers secrets.
  mutating func insert(_ others: [UInt64]) {
    for number in others where numbers.count < most { numbers.insert(number) }
  }

  /// Whether this is a secret that was remembered.
  func contains(_ value: [UInt8]) -> Bool {
    numbers.contains(SecretMatch.fingerprintNumber(of: value))
  }
}
