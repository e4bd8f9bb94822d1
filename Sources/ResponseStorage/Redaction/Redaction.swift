public import Bytes
import Files
import PropertyLists
public import Secrets

/// The removal of secrets from the responses of one archive.
///
/// A secret in a URL is replaced by `REDACTED-1`, `REDACTED-2` and so on. Within the archive, the same
/// secret always gets the same number, and different secrets get different numbers. So different URLs and
/// keys stay different, and the number reveals nothing about the secret.
public final class Redaction {
  /// What is left out.
  public let filter: CredentialFilter

  /// What was left out so far, and what may be left.
  public internal(set) var tally = Tally()

  /// Numbers of redactions; they count entries unless stated otherwise.
  public struct Tally: Hashable, Sendable {
    /// The entries with secrets in header fields.
    public var headers: Int64 = 0
    /// The entries with secrets in URLs, keys or partitions.
    public var urls: Int64 = 0
    /// The entries with a request body.
    public var requestBodies: Int64 = 0
    /// The entries with user info, or with properties that an app attached to the request.
    public var attachments: Int64 = 0
    /// The number of different secrets that were replaced in URLs.
    public var replacements: Int64 = 0
    /// The entries whose URLs have values that look like tokens and were kept.
    public var keptTokens: Int64 = 0
    /// The names of query parameters whose values were kept, percent-decoded, up to ``mostNames``.
    public var keptNames: Set<ByteString> = []

    /// The most names to keep, as a hostile cache can have any number of them.
    public static let mostNames = 1_000
    /// The longest name that is kept, in bytes.
    static let longestName = 64

    /// Creates an empty tally.
    public init() {}
  }

  private let secrets: URLSecrets
  /// The numbers of secrets, by the first half of their SHA-256, as secrets can be long and numerous.
  // 128 bits of a digest do not collide by accident. Numbers and not digests appear in the archive,
  // as a short secret can be guessed from its digest.
  private var numbers: [[UInt8]: Int64] = [:]

  /// Creates a redaction.
  public init(_ filter: CredentialFilter) {
    self.filter = filter
    secrets = filter.secrets
  }

  /// Returns the replacement for a secret.
  func pseudonym(of secret: ArraySlice<UInt8>) -> ByteString {
    var digest = Digest()
    digest.update(secret)
    let next = Int64(numbers.count) + 1
    let number = numbers[Array(digest.bytes[..<16]), default: next]
    if number == next {
      numbers[Array(digest.bytes[..<16])] = next
      tally.replacements = next
    }
    return ByteString("REDACTED-\(number)")
  }

  /// Returns a URL, or text with URLs, without secrets.
  ///
  /// User information is removed with its `@`, unless tokens are left out too: then it gets a number, so that
  /// URLs that differ only in it stay different.
  public func url(_ url: ByteString, as form: URLSecrets.Form = .url) -> ByteString {
    secrets.replacing(in: url, as: form, by: replacement(of:))
  }

  private func replacement(of secret: URLSecrets.Secret) -> ByteString? {
    switch secret {
    case .userInformation(let text): filter.includesTokens ? pseudonym(of: text) : nil
    case .value(let text): pseudonym(of: text)
    }
  }

  /// Returns the header fields without secret fields, and without secrets in URLs of other fields.
  public func headers(_ headers: HeaderFields) -> HeaderFields {
    HeaderFields(
      headers.fields.compactMap { field in
        filter.isSecret(field.name)
          ? nil : .init(name: field.name, value: text(field.value, named: field.name))
      })
  }

  /// Returns the value of a header field, or of a property, without the secrets that lists mask.
  func text(_ value: ByteString, named name: ByteString = "") -> ByteString {
    secrets.replacing(in: value, ofField: name, by: replacement(of:))
  }

  /// Returns a response without secrets. The request body, the user info and the properties of the request
  /// are removed, as any of them may be secret.
  public func response(_ response: StoredResponse) -> StoredResponse {
    var new = response
    new.key = new.key.map { url($0) }
    new.url = new.url.map { url($0) }
    new.partition = new.partition.map { url($0) }
    new.responseHeaders = new.responseHeaders.map(headers)
    new.request.url = new.request.url.map { url($0) }
    new.request.headers = new.request.headers.map(headers)
    // A login form is a request body.
    new.request.body = nil
    new.userInfo = []
    new.protocolProperties = []
    let sameURLs =
      new.key == response.key && new.url == response.url && new.partition == response.partition
      && new.request.url == response.request.url
    let sameHeaders =
      new.responseHeaders == response.responseHeaders
      && new.request.headers == response.request.headers
    if !sameURLs { tally.urls += 1 }
    if !sameHeaders { tally.headers += 1 }
    if response.request.body != nil { tally.requestBodies += 1 }
    if !response.userInfo.isEmpty || !response.protocolProperties.isEmpty {
      tally.attachments += 1
    }
    note(new)
    return new
  }

  /// Counts what a response keeps after its secrets were removed.
  public func note(_ response: StoredResponse) {
    guard let url = response.url ?? response.request.url ?? response.key else { return }
    if !filter.includesTokens, URLSecrets().replacing(in: url, by: { _ in nil }) != url {
      tally.keptTokens += 1
    }
    for parameter in URLParts(url.bytes).parameters {
      // The names are shown to the user, who decides which of them are secret after all.
      guard tally.keptNames.count < Tally.mostNames else { return }
      guard let value = parameter.value, !value.isEmpty,
        parameter.name.count <= Tally.longestName, !value.starts(with: "REDACTED-".utf8)
      else { continue }
      tally.keptNames.insert(ByteString(URLSecrets.percentDecoded(parameter.name)))
    }
  }
}

extension Redaction {
  /// Returns a raw response without secrets, and the locations that contained any.
  ///
  /// Property lists are always rewritten, as bytes to which no object refers would remain otherwise. Of the
  /// properties of the request, only the `Vary` record and those of CFNetwork are kept; of the columns, only
  /// those of CFNetwork.
  ///
  /// - Returns: `nil` if the property list of the response cannot be decoded, so that its secrets are
  ///   unknown.
  public func redacted(_ raw: RawResponse) -> (RawResponse, places: [String])? {
    var run = CredentialRedaction(redaction: self, raw: raw)
    guard run.run() else { return nil }
    let places = run.places
    func has(_ isOne: (String.UTF8View) -> Bool) -> Bool { places.contains { isOne($0.utf8) } }
    func ends(_ ending: String) -> (String.UTF8View) -> Bool {
      { $0.reversed().starts(with: ending.utf8.reversed()) }
    }
    if places.contains(where: { $0.utf8.contains("headers".utf8) }) { tally.headers += 1 }
    if has(ends("url")) || !places.isDisjoint(with: ["key", "partition"]) { tally.urls += 1 }
    if has(ends("request.body")) { tally.requestBodies += 1 }
    if !places.isDisjoint(with: ["user-info", "proto-props", "columns"]) { tally.attachments += 1 }
    return (run.raw, places.sorted())
  }
}

/// The redaction of one response.
private struct CredentialRedaction {
  let redaction: Redaction
  var raw: RawResponse
  var places: Set<String> = []

  /// Leaves all secrets out; returns `false` if that is impossible.
  mutating func run() -> Bool {
    let old = StoredResponse(decoding: raw, [.key, .url, .storage, .method, .requestDetails])
    // A response that cannot be decoded may have any secret in it, so the whole entry is left out.
    // A request in the same state is only dropped, as an entry without it is still useful.
    guard redactList(.responseObject, { $0.redactMessage($1, "response") }) else { return false }
    if !redactList(.requestObject, { $0.redactMessage($1, "request") }) {
      drop(.requestObject, "request")
    }
    let vary = StoredResponse(decoding: raw, .responseHeaders).varyValues
    if !redactList(.protocolProperties, { $0.redactProperties($1, vary) }) {
      drop(.protocolProperties, "proto-props")
    }
    // Apps attach what they like, under names that say nothing.
    drop(.userInfo, "user-info")
    redactColumns(old)
    return true
  }

  // MARK: - Parts

  /// Rewrites a property list without secrets; returns `false` if it cannot be decoded.
  private mutating func redactList(
    _ name: RawResponse.Part.Name,
    _ change: (inout Self, PropertyListValue) -> PropertyListValue
  ) -> Bool {
    guard let index = raw.parts.firstIndex(where: { $0.name == name }) else { return true }
    guard let content = raw.parts[index].content else { return true }
    guard let bytes = content.bytes, let list = try? BinaryPropertyList(bytes.span),
      let old = try? list.value(of: list.root)
    else { return false }
    let new = change(&self, old)
    // Rewrite it even if nothing changed: the old bytes may contain data to which no object refers.
    raw.parts[index].content = Body(PropertyListWriter().bytes(of: new))
    return true
  }

  private mutating func drop(_ name: RawResponse.Part.Name, _ place: String) {
    guard let index = raw.parts.firstIndex(where: { $0.name == name }) else { return }
    if raw.parts[index].content == nil { return }
    raw.parts[index].content = nil
    raw.parts[index].isText = false
    places.insert(place)
  }

  /// Redacts an archived request or response.
  private mutating func redactMessage(
    _ list: PropertyListValue, _ place: String
  ) -> PropertyListValue {
    guard case .dictionary(var entries) = list,
      let index = entries.firstIndex(where: { $0.key == Array("Array".utf8) }),
      case .array(var elements) = entries[index].value
    else { return redacted(list, place) }
    for position in elements.indices {
      switch elements[position] {
      // A body, whole or in parts; no other element is data or an array.
      // The null token takes its place, so that all other values keep their positions.
      case .data, .array:
        elements[position] = .text(
          place == "request"
            ? "__CFURLRequestNullTokenString__" : "__CFURLResponseNullTokenString__")
        places.insert("\(place).body")
      default: elements[position] = redacted(elements[position], place)
      }
    }
    for other in entries.indices where other != index {
      entries[other].value = redacted(entries[other].value, place)
    }
    entries[index].value = .array(elements)
    return .dictionary(entries)
  }

  /// Redacts the properties of a request.
  private mutating func redactProperties(
    _ list: PropertyListValue, _ vary: Set<ByteString>
  ) -> PropertyListValue {
    guard case .dictionary(let entries) = list else {
      places.insert("proto-props")
      return .dictionary([])
    }
    return .dictionary(
      entries.compactMap { entry in
        let isKnown =
          vary.contains(ByteString(entry.key))
          || Self.knownProperties.contains { $0.elementsEqual(entry.key) }
        guard isKnown else {
          places.insert("proto-props")
          return nil
        }
        return .init(key: entry.key, value: redacted(entry.value, "proto-props"))
      })
  }

  /// The properties that CFNetwork adds, which reveal nothing about the user.
  private static let knownProperties: [String.UTF8View] = [
    "kCFURLRequestAllowAllPOSTCaching", "_kCFURLCachePartitionKey",
    "_kCFURLConnectionPropertyShouldSniff", "_kCFURLProtocolPropertyForFoundation",
  ].map(\.utf8)

  // MARK: - Values

  /// Redacts a value and everything in it.
  private mutating func redacted(
    _ value: PropertyListValue, _ place: String
  ) -> PropertyListValue {
    switch value {
    case .string(let text): return .string(redacted(text, place))
    case .array(let values): return .array(values.map { redacted($0, place) })
    case .dictionary(let entries):
      return .dictionary(entries.compactMap { redacted($0, place) })
    case .data:
      places.insert("\(place).body")
      return .data([])
    case .null, .boolean, .integer, .real, .date, .uid, .opaque: return value
    }
  }

  private mutating func redacted(
    _ entry: PropertyListValue.Entry, _ place: String
  ) -> PropertyListValue.Entry? {
    let name = ByteString(entry.key)
    // A filter that looked at the visible header fields only would leave `Set-Cookie` and
    // `Authorization` in this copy.
    if name != "__hhaa__", redaction.filter.isSecret(name) {
      places.insert("\(place).headers.\(name.asciiLowercased.string ?? "")")
      return nil
    }
    // Newer systems keep a second copy of all header fields under this key, including cookies.
    guard name == "__hhaa__" else {
      // `_CFURLString` is a URL as a whole; other texts may contain URLs.
      if name == "_CFURLString", case .string(let url) = entry.value {
        return .init(key: entry.key, value: .string(redacted(url, place, as: .url)))
      }
      var value = entry.value
      if case .string(let text) = value {
        value = .string(redacted(text, place, named: name))
      } else {
        value = redacted(value, place)
      }
      return .init(key: redacted(entry.key, place), value: value)
    }
    return redactedArrays(entry, place)
  }

  /// Redacts header fields that are archived as the base64 of a property list; removes what cannot be decoded.
  private mutating func redactedArrays(
    _ entry: PropertyListValue.Entry, _ place: String
  ) -> PropertyListValue.Entry? {
    guard case .string(let text) = entry.value, let bytes = Base64.decode(text),
      let list = try? BinaryPropertyList(bytes.span), let value = try? list.value(of: list.root)
    else {
      places.insert("\(place).headers")
      return nil
    }
    // The same rules apply within it: names that are secret, and URLs in the values of others.
    let new = PropertyListWriter().bytes(of: redacted(value, place))
    // Keep the line breaks that CFNetwork writes around the base64.
    let space = text.prefix { $0 == 0x0A || $0 == 0x0D }
    let end = text.suffix(from: text.lastIndex { $0 != 0x0A && $0 != 0x0D }.map { $0 + 1 } ?? 0)
    return .init(key: entry.key, value: .string(Base64.encode(new, after: Array(space)) + end))
  }

  private mutating func redacted(
    _ text: [UInt8], _ place: String, as form: URLSecrets.Form = .text, named name: ByteString = ""
  ) -> [UInt8] {
    let new: [UInt8]
    if URLSecrets.isWebToken(text[...]) {
      new = redaction.pseudonym(of: text[...]).bytes
    } else if form == .text {
      new = redaction.text(ByteString(text), named: name).bytes
    } else {
      new = redaction.url(ByteString(text), as: form).bytes
    }
    if new != text { places.insert("\(place).url") }
    return new
  }

  // MARK: - Columns

  private mutating func redactColumns(_ old: StoredResponse) {
    let count = raw.columns.count
    // Nothing is known about what another column contains.
    raw.columns.removeAll { !Self.knownColumns.contains($0.name) }
    if raw.columns.count < count { places.insert("columns") }
    for index in raw.columns.indices {
      let name = raw.columns[index].name
      switch (name, raw.columns[index].value) {
      case (_, .null), (_, .integer), (_, .real): break
      case ("request_key", .text(let key)):
        let new = redacted(key: key, of: old)
        if new != key { rekey(new) }
      case ("partition", .text(let text)):
        raw.columns[index].value = .text(redaction.url(text))
        if redaction.url(text) != text { places.insert("partition") }
      case ("time_stamp", .text(let text)) where Timestamp(databaseText: text.bytes.span) != nil:
        break
      default:
        raw.columns[index].value = .null
        places.insert("columns")
      }
    }
  }

  /// Returns a key without secrets. Different keys stay different.
  private func redacted(key: ByteString, of old: StoredResponse) -> ByteString {
    let url = old.request.url ?? old.url ?? key
    // The key is made again from the redacted URL, and not redacted as a text: it escapes
    // characters that the URL has as they are, so a secret can be written differently in the two.
    let made = AppleCacheKey(of: url, partition: old.partition).text
    let new = AppleCacheKey(
      of: redaction.url(url), partition: old.partition.map { redaction.url($0) }
    ).text
    if key == made { return new }
    // Some systems append the request body to the key.
    guard old.request.body != nil || old.request.method ?? "GET" != "GET" else {
      return redaction.url(key)
    }
    let rest = key.bytes.starts(with: made.bytes) ? key.bytes[made.bytes.count...] : key.bytes[...]
    // A request body in a key is a secret like any other, but without it two keys could become one,
    // and one response would be lost on import.
    return ByteString(new.bytes + redaction.pseudonym(of: rest).bytes)
  }

  private static let knownColumns =
    ["entry_ID", "isDataOnFS"] + AppleSchema.rawResponseColumns

  /// Sets another key and its hash, as the old hash would reveal the old key.
  private mutating func rekey(_ key: ByteString) {
    places.insert("key")
    raw.rekey(key)
  }
}

extension StoredResponse {
  /// The values of `Vary`, which may be the key of a `Vary` record.
  fileprivate var varyValues: Set<ByteString> {
    let values = (responseHeaders?.fields ?? []).filter {
      $0.name.equalsIgnoringASCIICase("vary")
    }.map(\.value.bytes)
    return Set(
      [ByteString(Array(values.joined(separator: [0x2C, 0x20])))] + values.map { ByteString($0) })
  }
}
