public import ResponseStorage

/// A URL in the one form in which URLs are compared.
///
/// The scheme and the host are in small letters, a default port is gone, an empty path is `/`, the
/// digits of percent-escapes are capitals, and bytes that may not stand in a URL are percent-escaped
/// (RFC 3986 §6.2.2.1, §6.2.3). Nothing is unescaped, and the fragment stays: a cache key has it too.
public enum CanonicalURL {
  /// The canonical form of a URL; that of a canonical URL is itself.
  public static func of(_ url: ByteString) -> ByteString {
    let parts = URLParts(url)
    guard let scheme = parts.scheme, let authority = parts.authority else {
      return ByteString(escaped(url.bytes[...]))
    }
    var result = scheme.map(\.asciiLowercased)
    result += [UInt8(ascii: ":"), UInt8(ascii: "/"), UInt8(ascii: "/")]
    var host = authority
    if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
      result += escaped(authority[...at])
      host = authority[(at + 1)...]
    }
    host = ArraySlice(host.map(\.asciiLowercased))
    for (scheme, port) in [("http", ":80"), ("https", ":443")]
    where result.starts(with: Array("\(scheme):".utf8))
      && host.reversed().starts(with: port.utf8.reversed())
    {
      host = host.dropLast(port.utf8.count)
    }
    result += escaped(host, isHost: true)
    if !(parts.rest.first == UInt8(ascii: "/")) { result.append(UInt8(ascii: "/")) }
    result += escaped(parts.rest)
    return ByteString(result)
  }

  /// The host of a URL, in small letters, without user and port; `nil` if it has none.
  public static func host(of url: ByteString) -> ByteString? {
    guard var host = URLParts(url).authority else { return nil }
    if let at = host.lastIndex(of: UInt8(ascii: "@")) { host = host[(at + 1)...] }
    if host.first == UInt8(ascii: "["), let end = host.firstIndex(of: UInt8(ascii: "]")) {
      host = host[(host.startIndex + 1)..<end]
    } else if let colon = host.firstIndex(of: UInt8(ascii: ":")) {
      host = host[..<colon]
    }
    return ByteString(host.map(\.asciiLowercased))
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

  private static func escaped(_ bytes: ArraySlice<UInt8>, isHost: Bool = false) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    let digits = Array("0123456789ABCDEF".utf8)
    for (index, byte) in zip(bytes.indices, bytes) {
      let isEscape =
        byte == UInt8(ascii: "%") && index + 2 < bytes.endIndex && isHexadecimal(bytes[index + 1])
        && isHexadecimal(bytes[index + 2])
      let isDigit =
        isHexadecimal(byte)
        && (index - 1 >= bytes.startIndex && bytes[index - 1] == UInt8(ascii: "%")
          && index + 1 < bytes.endIndex && isHexadecimal(bytes[index + 1])
          || index - 2 >= bytes.startIndex && bytes[index - 2] == UInt8(ascii: "%")
            && isHexadecimal(bytes[index - 1]))
      if isDigit {
        result.append(byte >= UInt8(ascii: "a") ? byte - 0x20 : byte)
      } else if isEscape || isLegal(byte, isHost: isHost) {
        result.append(byte)
      } else {
        result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return result
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte.asciiLowercased)
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
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 0,
      bytes[..<colon].allSatisfy({
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0.asciiLowercased)
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "+")
          || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
      })
    else {
      (scheme, authority, rest) = (nil, nil, bytes)
      return
    }
    scheme = bytes[..<colon]
    let slashes = bytes[(colon + 1)...].prefix(2)
    guard slashes.count == 2, slashes.allSatisfy({ $0 == UInt8(ascii: "/") }) else {
      (authority, rest) = (nil, bytes[(colon + 1)...])
      return
    }
    let start = colon + 3
    let end =
      bytes[start...].firstIndex {
        $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#")
      } ?? bytes.endIndex
    (authority, rest) = (bytes[start..<end], bytes[end...])
  }
}
