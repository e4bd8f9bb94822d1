public import Bytes

/// A URL in the one form in which URLs are compared.
///
/// The scheme and the host are in small letters, a default port is gone, an empty path is `/`, the
/// digits of percent-escapes are capitals, and bytes that may not stand in a URL are percent-escaped
/// (RFC 3986 §6.2.2.1, §6.2.3). Nothing is unescaped, and the fragment stays: a cache key has it too.
public enum CanonicalURL {
  /// The canonical form of a URL; that of a canonical URL is itself.
  ///
  /// Bytes that are no URL with an authority come back with only the illegal ones escaped; a `%`
  /// that begins no escape becomes `%25`. Nothing is an error.
  ///
  /// - Complexity: O(*n*), where *n* is the number of bytes.
  public static func of(_ url: ByteString) -> ByteString {
    // Nearly all are: they are told without memory for another.
    if isCanonical(url.bytes) { return url }
    let parts = URLParts(url)
    var result: [UInt8] = []
    result.reserveCapacity(url.bytes.count + 1)
    guard let scheme = parts.scheme, let authority = parts.authority else {
      appendEscaped(url.bytes[...], to: &result)
      return ByteString(result)
    }
    for byte in scheme { result.append(byte.asciiLowercased) }
    let port = defaultPort(of: result)
    result += [UInt8(ascii: ":"), UInt8(ascii: "/"), UInt8(ascii: "/")]
    var host = authority
    if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
      appendEscaped(authority[...at], to: &result)
      host = authority[(at + 1)...]
    }
    appendEscaped(withoutPort(port, host), to: &result, isHost: true)
    if parts.rest.first != UInt8(ascii: "/") { result.append(UInt8(ascii: "/")) }
    appendEscaped(parts.rest, to: &result)
    return ByteString(result)
  }

  /// The beginnings of nearly all URLs.
  private static let usualBeginnings = ["https://", "http://"].map { Array($0.utf8) }

  /// Whether a URL is surely in its canonical form; of one with a user, a port or an escape that is not said.
  static func isCanonical(_ url: [UInt8]) -> Bool {
    guard let beginning = usualBeginnings.first(where: { url.starts(with: $0) }) else {
      return false
    }
    var index = beginning.count
    while index < url.count, url[index] != UInt8(ascii: "/") {
      guard isPlainInHost(url[index]) else { return false }
      index += 1
    }
    if index == url.count { return false }
    return url[index...].allSatisfy { isLegal($0, isHost: false) }
  }

  /// Whether a byte stands for itself wherever it is in a host.
  private static func isPlainInHost(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "."), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  /// The host of a URL, in small letters, without user, port and the brackets of an IPv6
  /// address; `nil` if it has none, as `file:///a`.
  public static func host(of url: ByteString) -> ByteString? {
    guard let authority = URLParts.authority(of: url.bytes) else { return nil }
    let bytes = url.bytes[authority]
    var (start, end) = (authority.lowerBound, authority.upperBound)
    if let at = bytes.lastIndex(of: UInt8(ascii: "@")) { start = at + 1 }
    if start < end, bytes[start] == UInt8(ascii: "["),
      let bracket = bytes[start...].firstIndex(of: UInt8(ascii: "]"))
    {
      (start, end) = (start + 1, bracket)
    } else if let colon = bytes[start...].firstIndex(of: UInt8(ascii: ":")) {
      end = colon
    }
    guard start < end else { return nil }
    var host: [UInt8] = []
    host.reserveCapacity(end - start)
    for index in start..<end { host.append(bytes[index].asciiLowercased) }
    return ByteString(host)
  }

  /// The scheme of a URL, in small letters; `nil` if it has none.
  public static func scheme(of url: ByteString) -> ByteString? {
    URLParts(url).scheme.map { ByteString($0.map(\.asciiLowercased)) }
  }

  /// The path of a URL, without query and fragment; `nil` if the URL has no host.
  public static func path(of url: ByteString) -> ByteString? {
    let parts = URLParts(url)
    guard parts.authority != nil else { return nil }
    return ByteString(
      Array(parts.rest.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }))
  }

  /// - Parameter scheme: A scheme in small letters.
  private static func defaultPort(of scheme: [UInt8]) -> String.UTF8View? {
    if scheme.elementsEqual("http".utf8) { return "80".utf8 }
    if scheme.elementsEqual("https".utf8) { return "443".utf8 }
    return nil
  }

  /// A host without `port`, if it ends so.
  ///
  /// What stands before must be a host: `a:80:80` is none, and stays as it is.
  private static func withoutPort(_ port: String.UTF8View?, _ host: ArraySlice<UInt8>)
    -> ArraySlice<UInt8>
  {
    guard let port, let colon = host.lastIndex(of: UInt8(ascii: ":")),
      host[(colon + 1)...].elementsEqual(port)
    else { return host }
    let name = host[..<colon]
    let isAddress = name.first == UInt8(ascii: "[") && name.last == UInt8(ascii: "]")
    return isAddress || !name.contains(UInt8(ascii: ":")) ? name : host
  }

  /// Appends bytes with illegal ones percent-escaped, and those of a host in small letters.
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
    switch byte {
    case 0...0x20, 0x7F...: false
    case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"),
      UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"),
      UInt8(ascii: "}"), UInt8(ascii: "%"):
      false
    case UInt8(ascii: "["), UInt8(ascii: "]"): isHost
    default: true
    }
  }
}

/// The parts of a URL with an authority (RFC 3986 §3).
struct URLParts {
  /// What stands before the first `:`, if that is a scheme.
  let scheme: ArraySlice<UInt8>?
  /// What stands between `//` and the path, if the URL has it.
  let authority: ArraySlice<UInt8>?
  /// The path, the query and the fragment, or all that follows the scheme.
  let rest: ArraySlice<UInt8>

  init(_ url: ByteString) {
    let bytes = url.bytes[...]
    guard let colon = Self.endOfScheme(of: url.bytes) else {
      (scheme, authority, rest) = (nil, nil, bytes)
      return
    }
    scheme = bytes[..<colon]
    guard let range = Self.authority(of: url.bytes) else {
      (authority, rest) = (nil, bytes[(colon + 1)...])
      return
    }
    (authority, rest) = (bytes[range], bytes[range.upperBound...])
  }

  /// Where the authority of a URL is, if the URL has one.
  static func authority(of url: [UInt8]) -> Range<Int>? {
    let slash = UInt8(ascii: "/")
    guard let colon = endOfScheme(of: url), colon + 2 < url.count, url[colon + 1] == slash,
      url[colon + 2] == slash
    else { return nil }
    let start = colon + 3
    var end = start
    while end < url.count, url[end] != slash, url[end] != UInt8(ascii: "?"),
      url[end] != UInt8(ascii: "#")
    {
      end += 1
    }
    return start..<end
  }

  /// Where the `:` after the scheme of a URL is, if the URL has one.
  private static func endOfScheme(of url: [UInt8]) -> Int? {
    for (index, byte) in url.enumerated() {
      switch byte.asciiLowercased {
      case UInt8(ascii: "a")...UInt8(ascii: "z"): continue
      case UInt8(ascii: ":"): return index > 0 ? index : nil
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"),
        UInt8(ascii: "."):
        if index == 0 { return nil }
      default: return nil
      }
    }
    return nil
  }
}
