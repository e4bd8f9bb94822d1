import Bytes

/// The canonical form of URLs that sorts the indexes of web archives: with the host reversed, and without parts that
/// rarely distinguish pages. It matches the Python package `surt`, which players use.
enum SURT {
  /// Returns the form: `https://www.Example.com:443/A/?b=2&a=1#x` becomes `com,example)/a?a=1&b=2`.
  static func make(of uri: [UInt8]) -> [UInt8] {
    let parts = URLParts(uri)
    guard let scheme = parts.scheme, let authority = parts.authority else {
      return uri.map(\.asciiLowercased)
    }
    let form =
      host(authority, scheme.map(\.asciiLowercased)) + [UInt8(ascii: ")")]
      + path(normalized(parts.path)) + query(normalized(parts.query ?? []))
    return form.map(\.asciiLowercased)
  }

  /// Returns the labels of the host in reverse order, with the port unless it is the default.
  private static func host(_ authority: URLAuthority, _ scheme: [UInt8]) -> [UInt8] {
    var (host, port) = (authority.host, authority.port ?? [])
    // The package only accepts digits as a port.
    if !port.allSatisfy(\.isASCIIDigit) { (host, port) = (authority.hostAndPort, []) }
    if port.elementsEqual((scheme == Array("https".utf8) ? "443" : "80").utf8) { port = [] }
    let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    // pywb looks a page up without `www`, and would not find it otherwise.
    let parts = labels.dropFirst(labels.count > 1 && isUsualName(labels[0]) ? 1 : 0)
    return Array(parts.reversed().joined(separator: [0x2C]))
      + (port.isEmpty ? [] : [UInt8(ascii: ":")] + port)
  }

  /// Whether a label is `www`, with or without a number.
  private static func isUsualName(_ label: ArraySlice<UInt8>) -> Bool {
    label.prefix(3).map(\.asciiLowercased) == Array("www".utf8)
      && label.dropFirst(3).allSatisfy(\.isASCIIDigit)
  }

  /// Returns the path without empty segments, `.`, `..` and a trailing slash.
  private static func path(_ path: [UInt8]) -> [UInt8] {
    var segments: [ArraySlice<UInt8>] = []
    for segment in path.split(separator: UInt8(ascii: "/")) {
      if segment.elementsEqual("..".utf8) {
        _ = segments.popLast()
      } else if !segment.elementsEqual(".".utf8) {
        segments.append(segment)
      }
    }
    return [UInt8(ascii: "/")] + Array(segments.joined(separator: [UInt8(ascii: "/")]))
  }

  private static func query(_ query: [UInt8]) -> [UInt8] {
    if query.isEmpty { return [] }
    let parts = query.map(\.asciiLowercased)
      .split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
      .sorted { $0.lexicographicallyPrecedes($1) }
    return [UInt8(ascii: "?")] + parts.joined(separator: [UInt8(ascii: "&")])
  }

  /// Percent-decodes text repeatedly, and then escapes only what must be escaped.
  private static func normalized(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var (text, last) = (text.percentUnescaped(), Array(text))
    // Nested escapes are decoded too. The limit bounds the work for hostile URLs; longer chains do not occur in
    // practice.
    for _ in 0..<16 where text != last { (text, last) = (text[...].percentUnescaped(), text) }
    return text.percentEscaped(.small) { byte in
      byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "%") && byte != UInt8(ascii: "#")
    }
  }
}
