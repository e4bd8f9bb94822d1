extension URLSecrets {
  /// A part of a URL.
  enum Part {
    case path
    case query
    case fragment

    /// Moves to the part that begins after `byte`, and returns whether a parameter may begin there.
    mutating func enters(_ byte: UInt8) -> Bool {
      switch (byte, self) {
      case (UInt8(ascii: "?"), .path):
        self = .query
        return true
      case (UInt8(ascii: "#"), .path), (UInt8(ascii: "#"), .query):
        self = .fragment
        return true
      case (UInt8(ascii: ";"), _): return true
      case (UInt8(ascii: "&"), _), (UInt8(ascii: "?"), _): return self != .path
      default: return false
      }
    }
  }

  /// A parameter of a URL.
  struct Parameter {
    let name: Range<Int>
    let value: Range<Int>

    /// Creates the parameter that begins at `start`, or `nil` if there is no `=` before its end.
    ///
    /// - Parameters:
    ///   - closer: The byte that ends the URL in a text.
    ///   - knownEnd: The end of the previous value, which is also the end of this one if it comes later.
    init?(in url: [UInt8], at start: Int, part: Part, closer: UInt8?, knownEnd: Int) {
      var equals = start
      while equals < url.count, url[equals] != UInt8(ascii: "=") {
        if url[equals] == closer { return nil }
        switch url[equals] {
        case UInt8(ascii: "&"), UInt8(ascii: ";"), UInt8(ascii: "#"), UInt8(ascii: "?"): return nil
        // In a query, a slash is an ordinary character (RFC 3986 §3.4).
        case UInt8(ascii: "/") where part == .path: return nil
        default: equals += 1
        }
      }
      guard equals < url.count else { return nil }
      // A value is searched from where the last one ended. From its own start, a query of n
      // semicolons would take n² steps.
      var end = max(equals + 1, knownEnd)
      scan: while end < url.count, url[end] != closer {
        switch (url[end], part) {
        case (UInt8(ascii: "&"), .query), (UInt8(ascii: "&"), .fragment),
          (UInt8(ascii: "#"), .query), (UInt8(ascii: "#"), .path), (UInt8(ascii: "?"), .path),
          (UInt8(ascii: "/"), .path), (UInt8(ascii: ";"), .path):
          break scan
        default: end += 1
        }
      }
      name = start..<equals
      value = (equals + 1)..<end
    }
  }
}
