import Bytes
public import HTTPCaching
public import ResponseStorage

extension Exchange {
  /// What a store holds of a response and of its request; `nil` if the header fields of the response or the
  /// time of its storing are not known.
  ///
  /// A store does not say when a request was sent: the delay of the response counts as 0.
  ///
  /// - Parameter response: Decoded for ``projection``; the request is left out if it was not decoded.
  public init?(of response: borrowing StoredResponse) {
    guard let headers = response.responseHeaders, let stored = response.stored else { return nil }
    let fields = FieldSection(headers)
    var request: Request?
    if let sent = response.request.headers ?? Self.noFields(unless: fields) {
      request = Request(
        method: response.request.method?.bytes ?? Request.get,
        targetURI: (response.request.url ?? response.url)?.bytes, fields: FieldSection(sent))
    }
    self.init(
      request: request, status: response.status, fields: fields, responseTime: stored.wholeSeconds,
      varyRecord: Self.varyRecord(fields, in: response.protocolProperties),
      bodyBytes: response.bodySize?.bytes)
  }

  /// What a response has to have been decoded for.
  public static let projection: Projection = [
    .url, .stored, .status, .cachingFields, .method, .body, .protocolProperties,
  ]

  /// No header fields, for a request of which none are stored: that is as good as knowing them, unless the
  /// response varies.
  private static func noFields(unless fields: FieldSection) -> HeaderFields? {
    fields.contains(.vary) ? nil : HeaderFields()
  }

  /// The request fields that CFNetwork keeps under the value of `Vary`, as it was received.
  private static func varyRecord(
    _ fields: FieldSection, in properties: [StoredResponse.Property]
  ) -> FieldSection? {
    if properties.isEmpty { return nil }
    let vary = fields.values(of: .vary).joined(separator: Array(", ".utf8))
    guard case .dictionary(let record)? = properties.value(for: ByteString(Array(vary))) else {
      return nil
    }
    return FieldSection(
      record.compactMap { property in
        guard case .text(let value) = property.value else { return nil }
        return FieldLine(name: property.key.bytes, value: value.bytes)
      })
  }
}
