import Bytes
public import HTTPCaching
public import ResponseStorage

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
