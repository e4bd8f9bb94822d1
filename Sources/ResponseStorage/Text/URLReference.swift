import Bytes

/// A URL, or a relative reference (RFC 3986 §5.2); nothing is unescaped.
struct URLReference: Hashable, Sendable {
  private var scheme: ArraySlice<UInt8>?
  private var authority: ArraySlice<UInt8>?
  private var path: [UInt8]
  private var query: ArraySlice<UInt8>?
  private let fragment: ArraySlice<UInt8>?

  /// Parses a reference; any text is valid.
  init(_ text: [UInt8]) {
    let parts = URLParts(text)
    (scheme, authority, path) = (parts.scheme, parts.authority?.bytes, Array(parts.path))
    (query, fragment) = (parts.query, parts.fragment)
  }

  /// The text of the reference (RFC 3986 §5.3).
  var text: [UInt8] {
    var result: [UInt8] = []
    if let scheme { result += scheme + [UInt8(ascii: ":")] }
    if let authority { result += [UInt8(ascii: "/"), UInt8(ascii: "/")] + authority }
    result += path
    if let query { result += [UInt8(ascii: "?")] + query }
    if let fragment { result += [UInt8(ascii: "#")] + fragment }
    return result
  }

  /// Returns the URL for this reference, relative to `base` (RFC 3986 §5.2.2).
  func resolved(against base: URLReference) -> URLReference {
    var target = self
    if scheme != nil {
      target.path = Self.withoutDots(path)
      return target
    }
    target.scheme = base.scheme
    if authority != nil {
      target.path = Self.withoutDots(path)
      return target
    }
    target.authority = base.authority
    if path.isEmpty {
      target.path = base.path
      target.query = query ?? base.query
    } else if path.first == UInt8(ascii: "/") {
      target.path = Self.withoutDots(path)
    } else {
      target.path = Self.withoutDots(base.directory + path)
    }
    return target
  }

  /// The path up to its last slash (RFC 3986 §5.2.3).
  private var directory: [UInt8] {
    if authority != nil, path.isEmpty { return [UInt8(ascii: "/")] }
    return path.lastIndex(of: UInt8(ascii: "/")).map { Array(path[...$0]) } ?? []
  }

  /// Returns a path without the segments `.` and `..` (RFC 3986 §5.2.4).
  private static func withoutDots(_ path: [UInt8]) -> [UInt8] {
    let dot = [UInt8(ascii: ".")]
    let isAbsolute = path.first == UInt8(ascii: "/")
    let segments = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    var kept: [ArraySlice<UInt8>] = []
    for segment in segments.dropFirst(isAbsolute ? 1 : 0) {
      if segment.elementsEqual(dot + dot) {
        _ = kept.popLast()
      } else if !segment.elementsEqual(dot) {
        kept.append(segment)
      }
    }
    // A path that ends in a dot segment ends in a slash.
    // Otherwise `a/..` and `a/../` would lead to different URLs.
    if let last = segments.last, last.elementsEqual(dot) || last.elementsEqual(dot + dot) {
      kept.append([])
    }
    let joined = kept.joined(separator: [UInt8(ascii: "/")])
    return (isAbsolute ? [UInt8(ascii: "/")] : []) + joined
  }
}

extension URLParts {
  /// The URL with percent-escapes for bytes that are not allowed where they are.
  var escaped: [UInt8] {
    let authority = authority?.bytes ?? bytes[pathStart..<pathStart]
    return bytes[..<authority.startIndex]
      // In the authority, keep the brackets of an IPv6 address.
      + authority.percentEscaped { $0.mayBeInURL } + Self.escaped(afterAuthority)
  }

  /// Returns text with percent-escapes for bytes that are not allowed outside of an authority.
  static func escaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
    // CFNetwork escapes `[`, `]` and `|` in keys, although it keeps them in the URLs next to them.
    text.percentEscaped { $0.mayBeInURL && !$0.isBracket }
  }
}
