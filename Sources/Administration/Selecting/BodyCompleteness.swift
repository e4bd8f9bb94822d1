import Bytes
public import HTTPCaching
public import ResponseStorage

/// What the length of a stored body tells about its download.
public enum BodyCompleteness: Hashable, Sendable {
  /// As many bytes are stored as were announced, or nothing was announced of what is stored.
  case whole
  /// Fewer bytes are stored than were announced, or the status says that they are a part: a download may have
  /// been cut off.
  case partial
  /// Fewer bytes are stored than were announced, but of JSON, as where the app stores JSON that it has written
  /// again.
  case rewritten
  /// More bytes are stored than were announced.
  case longer

  /// Compares what is stored with what was announced; a missing body has no length.
  ///
  /// - Parameters:
  ///   - exchange: What `response` is to caching.
  ///   - response: Decoded for ``projection``.
  public init(of exchange: borrowing Exchange, _ response: borrowing StoredResponse) {
    guard response.bodyLocation != .missing else {
      self = .whole
      return
    }
    switch StoredBody(of: exchange) {
    case .start, .fragment:
      self = exchange.status != 206 && Self.isJSON(response.mimeType) ? .rewritten : .partial
    case .complete:
      let isLonger = exchange.announcedLength.map { exchange.bodyBytes ?? 0 > $0 } ?? false
      self = isLonger ? .longer : .whole
    }
  }

  /// The same of a response alone; `nil` if its header fields or the time of its storing are not known.
  public init?(of response: borrowing StoredResponse) {
    guard let exchange = Exchange(of: response) else { return nil }
    self.init(of: exchange, response)
  }

  /// What a response has to have been decoded for.
  public static let projection: Projection = Exchange.projection.union(.mimeType)

  /// Whether a media type is JSON, or a format that is written in it (RFC 6839 §3.1).
  private static func isJSON(_ type: ByteString?) -> Bool {
    guard let type = type?.asciiLowercased.bytes else { return false }
    return type.elementsEqual("application/json".utf8) || type.elementsEqual("text/json".utf8)
      || type.suffix(5).elementsEqual("+json".utf8)
  }
}
