import Administration
import Bytes

/// The URL of a request, as it was stored.
struct TargetURL {
  private let parts: URLParts

  /// Takes a URL, of which the fragment is not sent (RFC 9110 §7.1).
  init(_ url: [UInt8]) {
    // Credentials are found in a text that is no URL, too: the report must not say that there were none.
    parts = URLParts(Array(URLParts(url).withoutFragment), allowsAnyScheme: true)
  }

  /// The URL without its fragment.
  var bytes: [UInt8] { parts.bytes }

  /// Whether it is of `http` or `https`, and has a host.
  var isFetchable: Bool {
    let scheme = CanonicalURL.scheme(of: ByteString(bytes))
    return (scheme == "http" || scheme == "https")
      && CanonicalURL.host(of: ByteString(bytes)) != nil
      && String(validating: bytes, as: UTF8.self) != nil
  }

  /// Whether there is a user's name, with or without a password.
  var hasUserInfo: Bool { parts.authority?.userInfo != nil }

  /// The URL without a user's name and password.
  var withoutUserInfo: [UInt8] { parts.withoutUserInfo }
}
