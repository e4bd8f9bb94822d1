import Administration
import Bytes

/// The URL of a request, as stored.
struct TargetURL {
  private let parts: URLParts

  /// Creates a target from a URL, without its fragment, which is not sent (RFC 9110 §7.1).
  init(_ url: [UInt8]) {
    // Find credentials even in text that is not a URL: the report must not claim that there were none.
    parts = URLParts(Array(URLParts(url).withoutFragment), allowsAnyScheme: true)
  }

  /// The URL without its fragment.
  var bytes: [UInt8] { parts.bytes }

  /// Whether it is an `http` or `https` URL with a host.
  var isFetchable: Bool {
    let scheme = CanonicalURL.scheme(of: ByteString(bytes))
    return (scheme == "http" || scheme == "https")
      && CanonicalURL.host(of: ByteString(bytes)) != nil
      && String(validating: bytes, as: UTF8.self) != nil
  }

  /// Whether it contains a user name, with or without a password.
  var hasUserInfo: Bool { parts.authority?.userInfo != nil }

  /// The URL without user name and password.
  var withoutUserInfo: [UInt8] { parts.withoutUserInfo }
}
