public import Bytes
public import HTTPCaching
public import ResponseStorage
import Secrets

/// A question about stored responses: the time, the request, and the platform.
public struct Inquiry: Hashable, Sendable {
  /// The time.
  public var now: Timestamp

  /// The platform whose rules apply.
  public var platform: CachePlatform

  /// The request policy.
  public var policy = RequestCachePolicy.useProtocolCachePolicy

  /// How a page asks, if that is known; it decides what WebKit stores.
  public var navigation: WebKitNavigation?

  /// Additional header fields of the request. The presented request is the stored one with the fields that `Vary`
  /// names; these fields replace them, and a field without a value is not sent.
  public var fields: [FieldLine] = []

  /// The disk capacity set by the app, in bytes; a cache does not record its own.
  public var capacityBytes: ByteCount?

  /// The expiry rules of the app.
  public var expiryRules = UserInfoExpiry.known

  /// The requested URLs, if the inquiry is about URLs in a Foundation store.
  public var names: EntryNames?

  /// Creates an inquiry.
  public init(now: Timestamp, platform: CachePlatform) {
    self.now = now
    self.platform = platform
  }

  /// Returns the request to present for a stored response.
  func request(for exchange: Exchange) -> Request {
    var lines: [FieldLine] = []
    if case .fields(let names) = exchange.vary,
      let sent = exchange.varyRecord ?? exchange.request?.fields
    {
      // Only these fields decide whether the stored response fits a request (RFC 9111 §4.1).
      // Nothing is known about the other fields of the next request.
      for (name, section) in zip(names, sent.sections(with: names)) {
        lines += section.lines.filter { name.matches($0) }
      }
    }
    if !fields.isEmpty {
      let replaced = Set(fields.map { FieldName(of: $0) })
      lines.removeAll { replaced.contains(FieldName(of: $0)) }
      // As in curl, `Name:` without a value leaves the field out.
      lines += fields.filter { !$0.value.isEmpty }
    }
    return Request(
      method: exchange.request?.method ?? Request.get, targetURI: exchange.request?.targetURI,
      fields: FieldSection(lines))
  }
}

extension Exchange {
  /// The fields of the stored request that are credentials; all of them only if the request was decoded with its header
  /// fields.
  public var credentials: [FieldLine] {
    let sent = (request?.fields.lines ?? []).filter(\.isCredential)
    // The record that CFNetwork keeps for `Vary` may have more than the archived request.
    let recorded = (varyRecord?.lines ?? []).filter { line in
      line.isCredential && !sent.contains { FieldName(of: $0).matches(line.name) }
    }
    return sent + recorded
  }
}

extension FieldLine {
  /// Whether the line of a request is a credential. A condition is none, whatever a server writes into its validators.
  public var isCredential: Bool {
    let conditions: [FieldName] = [.ifNoneMatch, .ifModifiedSince, .ifRange, .range]
    return Credentials.areIn(fieldNamed: name[...], value[...])
      && !conditions.contains { $0.matches(name) }
  }

  /// Whether the line is valid, and not about the connection, the length of a body, which the client sets, or the proxy,
  /// whose password a server must not get. A cache may contain anything, so stored fields are checked.
  public var isSendable: Bool {
    let reserved: [FieldName] = [
      "Host", "Content-Length", "Connection", "Keep-Alive", "Proxy-Connection", "TE", "Trailer",
      "Transfer-Encoding", "Upgrade", "Expect", .proxyAuthorization,
    ]
    return FieldName(name).isValid && !reserved.contains { $0.matches(name) }
      && !value.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }
      && String(validating: value, as: UTF8.self) != nil
  }
}

extension Explanation {
  /// The credentials with which a response was stored, without which nothing validates it.
  public enum StoredCredentials: Hashable, Sendable {
    /// None that are known.
    case none
    /// Some that are sent on request: in the header section, or in the URL.
    case sendable
    /// Some that are never sent.
    case unsendable
  }

  /// Whether a line of a request is a credential that the inquiry did not give, so that it is sent only on request.
  public func isStoredCredential(_ line: FieldLine) -> Bool {
    line.isCredential && !inquiry.fields.contains { FieldName(of: $0).matches(line.name) }
  }

  /// The credentials with which the response was stored, if its request was decoded with all header fields.
  public var credentials: StoredCredentials {
    guard let details else { return .none }
    let fields = details.exchange.credentials
    if !fields.allSatisfy(\.isSendable) { return .unsendable }
    let target = details.exchange.request?.targetURI ?? url?.bytes ?? []
    let isInURL = URLParts(target, allowsAnyScheme: true).authority?.userInfo != nil
    return fields.isEmpty && !isInURL ? .none : .sendable
  }
}

extension Exchange {
  /// Creates an exchange from a stored response and its request; `nil` if the header fields of the response or its
  /// stored time are unknown.
  ///
  /// A store does not record when a request was sent: the response delay counts as 0.
  ///
  /// - Parameter response: Decoded for ``projection``; the request is left out if it was not decoded.
  public init?(of response: borrowing StoredResponse) {
    guard let headers = response.responseHeaders, let stored = response.stored else { return nil }
    let fields = FieldSection(headers)
    var request: Request?
    if let sent = response.request.headers ?? Self.noFields(unless: fields) {
      // It differs from the URL of the response only after a redirect, so it matters only for a request that is sent.
      let requestedURL =
        response.decoded.isSuperset(of: [.requestDetails, .key]) ? response.requestedURL : nil
      request = Request(
        method: response.request.method?.bytes ?? Request.get,
        targetURI: (requestedURL ?? response.url)?.bytes, fields: FieldSection(sent))
    }
    self.init(
      request: request, status: response.status, fields: fields, responseTime: stored.wholeSeconds,
      varyRecord: Self.varyRecord(fields, in: response.protocolProperties),
      bodyBytes: response.bodySize?.bytes)
    isKeyedByRange = response.webKitMarks?.isRange ?? false
  }

  /// The fields to decode of a response; also `requestDetails` and `key` if the request is to be sent.
  public static let projection: Projection = [
    .url, .stored, .status, .cachingFields, .method, .body, .protocolProperties,
  ]

  /// No header fields, for a request without stored fields: this is equivalent to knowing them, unless the response has
  /// a `Vary`.
  private static func noFields(unless fields: FieldSection) -> HeaderFields? {
    fields.contains(.vary) ? nil : HeaderFields()
  }

  /// The request fields that CFNetwork stores under the value of `Vary`, as received.
  private static func varyRecord(
    _ fields: FieldSection, in properties: [StoredResponse.Property]
  ) -> FieldSection? {
    if properties.isEmpty { return nil }
    // CFNetwork files the request fields under the value of `Vary` as it was received, with several
    // lines joined.
    let vary = fields.values(of: .vary).joined(separator: Array(", ".utf8))
    guard case .dictionary(let record)? = properties.value(for: ByteString(Array(vary))) else {
      return nil
    }
    return FieldSection(
      // CFNetwork leaves fields out of the record that were not sent. So a missing name means that
      // the request had no such field, and not that it is unknown.
      record.compactMap { property in
        guard case .text(let value) = property.value else { return nil }
        return FieldLine(name: property.key.bytes, value: value.bytes)
      })
  }
}
