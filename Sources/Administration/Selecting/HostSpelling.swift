public import Bytes

/// A host that a selection names, or a domain with all its subdomains.
public struct HostPattern: Hashable, Sendable, ExpressibleByStringLiteral {
  /// The text, as the user wrote it, in lowercase.
  public let written: ByteString
  /// The text in ASCII, with the dot before a domain.
  let name: ByteString

  /// Creates a pattern from a host, from `.` and a domain, or from `*.` and a domain, in any spelling.
  public init(_ text: ByteString) {
    written = text.asciiLowercased
    let isWildcard = text.bytes.starts(with: "*.".utf8)
    let host = text.bytes.dropFirst(isWildcard ? 1 : 0)
    name =
      HostName.ascii(host).map { ByteString((isWildcard ? [UInt8(ascii: "*")] : []) + $0) }
      ?? written
  }

  public init(stringLiteral text: StaticString) { self.init(ByteString(stringLiteral: text)) }

  /// Whether this is the host, or a domain that contains the host.
  ///
  /// - Parameter host: A host as ``CanonicalURL/comparedHost(of:)`` returns it.
  func covers(_ host: ByteString) -> Bool { name.covers(host) }
}

extension ByteString {
  /// Whether this is the host, `.` and a domain that contains the host, or `*.` and a domain of which the host is a
  /// subdomain; both as they are compared.
  func covers(_ host: ByteString) -> Bool {
    if bytes.starts(with: "*.".utf8) {
      // As in certificates (RFC 6125 §6.4.3), not the domain itself; unlike there, at any depth.
      return host.bytes.count >= bytes.count
        && host.bytes.suffix(bytes.count - 1)
          .elementsEqual(bytes.dropFirst())
    }
    guard bytes.first == UInt8(ascii: ".") else { return bytes == host.bytes }
    return host.bytes.elementsEqual(bytes.dropFirst())
      || host.bytes.count > bytes.count && host.bytes.suffix(bytes.count).elementsEqual(bytes)
  }
}

/// The beginning of URLs that a selection names.
public struct URLPrefix: Hashable, Sendable, ExpressibleByStringLiteral {
  /// The text, as the user wrote it.
  public let written: ByteString
  /// The text, and other spellings of its host.
  private let spellings: [ByteString]

  /// Creates a prefix.
  public init(_ text: ByteString) {
    written = text
    spellings = CanonicalURL.hasPlainHost(text.bytes) ? [text] : CanonicalURL.spellings(of: text)
  }

  public init(stringLiteral text: StaticString) { self.init(ByteString(stringLiteral: text)) }

  /// Whether a URL begins with the text, in one of its spellings.
  func begins(_ url: ByteString) -> Bool {
    spellings.contains { url.bytes.starts(with: $0.bytes) }
  }
}

extension CanonicalURL {
  /// Whether a URL has only one usual spelling of its scheme, host and port; `false` if unsure.
  static func hasPlainHost(_ url: [UInt8]) -> Bool {
    guard let beginning = usualBeginnings.first(where: { url.starts(with: $0) }) else {
      return false
    }
    var index = beginning.count
    while index < url.count, url[index] != UInt8(ascii: "/") {
      // Labels in Punycode begin with `xn--`.
      let isSecondHyphen = url[index] == UInt8(ascii: "-") && url[index - 1] == UInt8(ascii: "-")
      guard isPlainInHost(url[index]), !isSecondHyphen else { return false }
      index += 1
    }
    return true
  }

  /// Returns a URL, and the same URL with its scheme and host in lowercase, without a default port, and with the host in
  /// ASCII and in Unicode; what follows the host is not changed. Spellings that are equal are left out.
  ///
  /// A URL that ends with its host may be the beginning of a longer one, so its port is kept.
  static func spellings(of url: ByteString) -> [ByteString] {
    let parts = URLParts(url.bytes)
    guard let scheme = parts.scheme, let authority = parts.authority else { return [url] }
    var beginning = scheme.map(\.asciiLowercased)
    let port = parts.afterAuthority.isEmpty ? nil : defaultPort(of: beginning)
    beginning += [UInt8(ascii: ":"), UInt8(ascii: "/"), UInt8(ascii: "/")]
    if let userInfo = authority.userInfo { beginning += userInfo + [UInt8(ascii: "@")] }
    let host = authority.host
    let rest = withoutPort(port, authority)[host.endIndex...] + parts.afterAuthority
    var spellings = [url]
    for host in [HostName.ascii(host) ?? host.map(\.asciiLowercased), HostName.unicode(host)] {
      let spelling = ByteString(beginning + host + rest)
      if !spellings.contains(spelling) { spellings.append(spelling) }
    }
    return spellings
  }
}

/// The canonical form of URLs for comparison.
///
/// The scheme and host are lowercased, a host that is not ASCII becomes ``HostName/ascii(_:)``, a default port is dropped,
/// an empty path becomes `/`, the digits of percent-escapes are uppercased, and invalid bytes are percent-escaped (RFC
/// 3986 §6.2.2.1, §6.2.3). Nothing else is unescaped, and the fragment is kept, because cache keys contain it.
public enum CanonicalURL {
  /// Returns the canonical form of a URL; a canonical URL is returned unchanged.
  ///
  /// In bytes that are not a URL with an authority, only invalid bytes are escaped; a `%` that begins no escape becomes
  /// `%25`. Never fails.
  ///
  /// - Complexity: O(*n*), where *n* is the number of bytes.
  public static func of(_ url: ByteString) -> ByteString {
    // Nearly all URLs are canonical; return them without an allocation.
    if isCanonical(url.bytes) { return url }
    let parts = URLParts(url.bytes)
    var result: [UInt8] = []
    result.reserveCapacity(url.bytes.count + 1)
    guard let scheme = parts.scheme, let authority = parts.authority else {
      appendEscaped(url.bytes[...], to: &result)
      return ByteString(result)
    }
    for byte in scheme { result.append(byte.asciiLowercased) }
    let port = defaultPort(of: result)
    result += [UInt8(ascii: ":"), UInt8(ascii: "/"), UInt8(ascii: "/")]
    if let userInfo = authority.userInfo {
      appendEscaped(userInfo, to: &result)
      result.append(UInt8(ascii: "@"))
    }
    let hostAndPort = withoutPort(port, authority)
    if let ascii = HostName.ascii(authority.host) {
      appendEscaped(ascii[...], to: &result, isHost: true)
      appendEscaped(hostAndPort[authority.host.endIndex...], to: &result, isHost: true)
    } else {
      appendEscaped(hostAndPort, to: &result, isHost: true)
    }
    // In `http` URLs an empty path and `/` are equivalent (RFC 3986 §6.2.3), also before a query.
    if parts.afterAuthority.first != UInt8(ascii: "/") { result.append(UInt8(ascii: "/")) }
    appendEscaped(parts.afterAuthority, to: &result)
    return ByteString(result)
  }

  /// The prefixes of nearly all URLs.
  static let usualBeginnings = ["https://", "http://"].map { Array($0.utf8) }

  /// Whether a URL is certain to be canonical; always `false` with a user, a port or an escape.
  static func isCanonical(_ url: [UInt8]) -> Bool {
    guard let beginning = usualBeginnings.first(where: { url.starts(with: $0) }) else {
      return false
    }
    var index = beginning.count
    while index < url.count, url[index] != UInt8(ascii: "/") {
      guard isPlainInHost(url[index]) else { return false }
      index += 1
    }
    // An empty path becomes `/` in the canonical form.
    if index == url.count { return false }
    return url[index...].allSatisfy { isLegal($0, isHost: false) }
  }

  /// Whether a byte is canonical anywhere in a host.
  static func isPlainInHost(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "."), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  /// Returns the host of a URL in lowercase, without user, port and the brackets of an IPv6 address; `nil` if there is
  /// none, as in `file:///a`.
  public static func host(of url: ByteString) -> ByteString? {
    let parts = URLParts(url.bytes)
    guard parts.scheme != nil, let host = parts.authority?.host else { return nil }
    // A malformed host, such as `a:80:80` or `[::1]a`, counts up to its first colon or bracket, so that a selection by
    // host finds the URL.
    let bytes = url.bytes.span
    var (start, end) = (host.startIndex, host.startIndex)
    if start < host.endIndex, bytes[start] == UInt8(ascii: "["),
      let bracket = host.firstIndex(of: UInt8(ascii: "]"))
    {
      (start, end) = (start + 1, bracket)
    } else {
      while end < host.endIndex, bytes[end] != UInt8(ascii: ":") { end += 1 }
    }
    if start == end { return nil }
    var result: [UInt8] = []
    result.append(addingCapacity: end - start) { (output: inout OutputSpan<UInt8>) in
      for index in start..<end { output.append(bytes[index].asciiLowercased) }
    }
    return ByteString(result)
  }

  /// Returns the host of a URL in the form in which hosts are compared: like ``host(of:)``, but always in ASCII.
  public static func comparedHost(of url: ByteString) -> ByteString? {
    guard let host = host(of: url) else { return nil }
    return HostName.ascii(host.bytes[...]).map { ByteString($0) } ?? host
  }

  /// Returns the scheme of a URL in lowercase; `nil` if there is none.
  public static func scheme(of url: ByteString) -> ByteString? {
    URLParts(url.bytes).scheme.map { ByteString($0.map(\.asciiLowercased)) }
  }

  /// Returns the path of a URL, without query and fragment; `nil` if the URL has no host.
  public static func path(of url: ByteString) -> ByteString? {
    let parts = URLParts(url.bytes)
    guard parts.scheme != nil, parts.authority != nil else { return nil }
    return ByteString(Array(parts.path))
  }

  /// - Parameter scheme: A scheme in lowercase.
  static func defaultPort(of scheme: [UInt8]) -> String.UTF8View? {
    if scheme.elementsEqual("http".utf8) { return "80".utf8 }
    if scheme.elementsEqual("https".utf8) { return "443".utf8 }
    return nil
  }

  /// Returns the host of an authority, with its port unless that is `port`.
  ///
  /// An authority that is not a host and a port, such as `a:80:80`, is returned unchanged.
  static func withoutPort(
    _ port: String.UTF8View?, _ authority: URLAuthority
  ) -> ArraySlice<UInt8> {
    guard let port, authority.port?.elementsEqual(port) ?? false else {
      return authority.hostAndPort
    }
    let host = authority.host
    let isAddress = host.first == UInt8(ascii: "[") && host.last == UInt8(ascii: "]")
    // Dropping `:80` from `a:80:80` would make it equal to `a:80`, which is another text.
    return isAddress || !host.contains(UInt8(ascii: ":")) ? host : authority.hostAndPort
  }

  /// Appends bytes, with invalid ones percent-escaped, and hosts in lowercase.
  private static func appendEscaped(
    _ bytes: ArraySlice<UInt8>, to result: inout [UInt8], isHost: Bool = false
  ) {
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let byte = bytes[index]
      index += 1
      if byte == UInt8(ascii: "%"), bytes.endIndex - index >= 2,
        let high = Base16.value(of: bytes[index]),
        let low = Base16.value(of: bytes[index + 1])
      {
        result += [byte, Base16.digit(high, .capital), Base16.digit(low, .capital)]
        index += 2
      } else if isLegal(byte, isHost: isHost) {
        result.append(isHost ? byte.asciiLowercased : byte)
      } else {
        result += [
          UInt8(ascii: "%"), Base16.digit(byte >> 4, .capital), Base16.digit(byte, .capital),
        ]
      }
    }
  }

  private static func isLegal(_ byte: UInt8, isHost: Bool) -> Bool {
    // The compiler merges this switch with that of `Bytes` into a single table look-up.
    switch byte {
    case UInt8(ascii: "%"): false
    // Brackets are allowed around an IPv6 address only (RFC 3986 §3.2.2). Elsewhere, CFNetwork
    // escapes them in its keys.
    case UInt8(ascii: "["), UInt8(ascii: "]"): isHost
    default: byte.mayBeInURL
    }
  }
}
