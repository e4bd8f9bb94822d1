import Bytes
public import HTTPCaching
public import ResponseStorage

/// How complete a stored body is, judged by its length.
public enum BodyCompleteness: Hashable, Sendable {
  /// The length is as announced, or none was announced.
  case whole
  /// The body is shorter than announced, or the status says that it is partial: a download may have been interrupted.
  case partial
  /// The body is shorter than announced, but it is JSON: some apps serialize JSON again before storing it.
  case rewritten
  /// The body is longer than announced.
  case longer

  /// Compares the stored length with the announced one; a missing body has no length.
  ///
  /// - Parameters:
  ///   - exchange: The exchange of `response`.
  ///   - response: Decoded for ``projection``.
  public init(of exchange: borrowing Exchange, _ response: borrowing StoredResponse) {
    guard response.bodyLocation != .missing else {
      self = .whole
      return
    }
    switch StoredBody(of: exchange) {
    case .start, .fragment:
      // A 206 is partial by its status, whatever its media type.
      self = exchange.status != 206 && Self.isJSON(response.mimeType) ? .rewritten : .partial
    case .complete:
      let isLonger = exchange.announcedLength.map { exchange.bodyBytes ?? 0 > $0 } ?? false
      self = isLonger ? .longer : .whole
    }
  }

  /// Creates the completeness of a response; `nil` if its header fields or stored time are unknown.
  public init?(of response: borrowing StoredResponse) {
    guard let exchange = Exchange(of: response) else { return nil }
    self.init(of: exchange, response)
  }

  /// The fields to decode of a response.
  public static let projection: Projection = Exchange.projection.union(.mimeType)

  /// Whether a media type is JSON or has the suffix `+json` (RFC 6839 §3.1).
  private static func isJSON(_ type: ByteString?) -> Bool {
    guard let type = type?.asciiLowercased.bytes else { return false }
    return type.elementsEqual("application/json".utf8) || type.elementsEqual("text/json".utf8)
      || type.suffix(5).elementsEqual("+json".utf8)
  }
}
