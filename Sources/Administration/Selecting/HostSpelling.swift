public import Bytes

/// A host that a selection names, or a domain with all its subdomains.
public struct HostPattern: Hashable, Sendable, ExpressibleByStringLiteral {
  /// The text, as the user wrote it, in lowercase.
  public let written: ByteString
  /// The text in ASCII, with the dot before a domain.
  let name: ByteString

  /// Creates a pattern from a host, or from `.` and a domain, in any spelling.
  public init(_ text: ByteString) {
    written = text.asciiLowercased
    name = HostName.ascii(text.bytes[...]).map { ByteString($0) } ?? written
  }

  public init(stringLiteral text: StaticString) { self.init(ByteString(stringLiteral: text)) }

  /// Whether this is the host, or a domain that contains the host.
  ///
  /// - Parameter host: A host as ``CanonicalURL/comparedHost(of:)`` returns it.
  func covers(_ host: ByteString) -> Bool { name.covers(host) }
}

extension ByteString {
  /// Whether this is the host, or `.` and a domain that contains the host; both as they are compared.
  func covers(_ host: ByteString) -> Bool {
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
