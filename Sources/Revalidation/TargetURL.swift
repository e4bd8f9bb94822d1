import Administration
import Bytes

/// The URL of a request, as it was stored.
struct TargetURL {
  /// The URL without its fragment, which is not sent (RFC 9110 §7.1).
  let bytes: [UInt8]

  init(_ url: [UInt8]) {
    bytes = Array(url.prefix { $0 != UInt8(ascii: "#") })
  }

  /// Whether it is of `http` or `https`, and has a host.
  var isFetchable: Bool {
    let scheme = CanonicalURL.scheme(of: ByteString(bytes))
    return (scheme == "http" || scheme == "https")
      && CanonicalURL.host(of: ByteString(bytes)) != nil
      && String(validating: bytes, as: UTF8.self) != nil
  }

  /// Whether there is a user's name, with or without a password.
  var hasUserInfo: Bool { userInfo != nil }

  /// The URL without a user's name and password.
  var withoutUserInfo: [UInt8] {
    guard let userInfo else { return bytes }
    return Array(bytes[..<userInfo.lowerBound] + bytes[userInfo.upperBound...])
  }

  /// What stands between `//` and the host, with its `@` (RFC 3986 §3.2.1).
  private var userInfo: Range<Int>? {
    let slash = UInt8(ascii: "/")
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
      bytes[(colon + 1)...].prefix(2).elementsEqual([slash, slash])
    else { return nil }
    let authority = bytes[(colon + 3)...].prefix { $0 != slash && $0 != UInt8(ascii: "?") }
    return authority.lastIndex(of: UInt8(ascii: "@")).map { colon + 3..<$0 + 1 }
  }
}
