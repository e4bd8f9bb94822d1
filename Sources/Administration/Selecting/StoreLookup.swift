public import Bytes
import ResponseStorage

/// How a Foundation store finds a response for another URL, or fails to find it for its own.
///
/// The key has neither scheme nor query, and is that of the requested URL, before redirects.
public struct StoreLookup: Hashable, Sendable {
  /// The requested URL.
  public let asked: ByteString

  /// The URL of the response.
  public let stored: ByteString?

  /// The text of the key of the response.
  public let key: ByteString

  /// Whether the store returns the response for the URL: their keys are equal.
  public var isAnswer: Bool { FoundationKey(of: asked)?.text == key }

  /// Whether the response came after a redirect, so that its key does not belong to its URL.
  public var isRedirected: Bool { stored.map { FoundationKey(of: $0)?.text != key } ?? false }

  /// Whether the response was stored for the same path with another query, possibly of another user.
  public var differsByQuery: Bool {
    guard isAnswer, !isRedirected, let stored else { return false }
    return URLParts(stored.bytes).query != URLParts(asked.bytes).query
  }

  /// The key in readable form.
  public var shownKey: ByteString { FoundationKey(text: key)?.shown ?? key }
}
