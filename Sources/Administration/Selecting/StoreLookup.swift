public import Bytes
import ResponseStorage

/// How a Foundation store finds a response for a URL that is not its own, or does not find it for its own.
///
/// The store's key has neither scheme nor query, and is that of the URL that was asked for, before redirects.
public struct StoreLookup: Hashable, Sendable {
  /// The URL that was asked about.
  public let asked: ByteString

  /// The URL of the response.
  public let stored: ByteString?

  /// The text of the key of the response.
  public let key: ByteString

  /// Whether the store answers the URL with the response: their keys are the same.
  public var isAnswer: Bool { FoundationKey(of: asked)?.text == key }

  /// Whether the key of the response is not that of its URL, as it came after a redirect.
  public var isRedirected: Bool { stored.map { FoundationKey(of: $0)?.text != key } ?? false }

  /// Whether the response was stored for the same path with another query, as that of another user may be.
  public var differsByQuery: Bool {
    guard isAnswer, !isRedirected, let stored else { return false }
    return URLParts(stored.bytes).query != URLParts(asked.bytes).query
  }

  /// The key for people.
  public var shownKey: ByteString { FoundationKey(text: key)?.shown ?? key }
}
