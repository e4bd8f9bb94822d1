import Bytes

/// A URL in the form that indexes of web archives are sorted by: the host from its end, without what does not tell
/// pages apart. It is that of the Python package `surt`, which players have.
enum SURT {
  /// Makes the form: `https://www.Example.com:443/A/?b=2&a=1#x` becomes `com,example)/a?a=1&b=2`.
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

  /// The parts of the host from the last to the first, with the port if it is an unusual one.
  private static func host(_ authority: URLAuthority, _ scheme: [UInt8]) -> [UInt8] {
    var (host, port) = (authority.host, authority.port ?? [])
    // To the package only digits are a port.
    if !port.allSatisfy(\.isASCIIDigit) { (host, port) = (authority.hostAndPort, []) }
    if port.elementsEqual((scheme == Array("https".utf8) ? "443" : "80").utf8) { port = [] }
    let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    let parts = labels.dropFirst(labels.count > 1 && isUsualName(labels[0]) ? 1 : 0)
    return Array(parts.reversed().joined(separator: [0x2C]))
      + (port.isEmpty ? [] : [UInt8(ascii: ":")] + port)
  }

  /// Whether a label is `www`, also with a number.
  private static func isUsualName(_ label: ArraySlice<UInt8>) -> Bool {
    label.prefix(3).map(\.asciiLowercased) == Array("www".utf8)
      && label.dropFirst(3).allSatisfy(\.isASCIIDigit)
  }

  /// The path without empty segments, without `.` and `..`, and without a slash at its end.
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

  /// Text whose escapes are undone, as often as there are some, and of which then only what must be is escaped.
  private static func normalized(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var (text, last) = (text.percentUnescaped(), Array(text))
    // Escapes of escapes: what is longer than the longest chain that anybody makes stays.
    for _ in 0..<16 where text != last { (text, last) = (text[...].percentUnescaped(), text) }
    return text.percentEscaped(.small) { byte in
      byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "%") && byte != UInt8(ascii: "#")
    }
  }
}
