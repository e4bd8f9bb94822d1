import Bytes

/// A URL, or what stands for one relative to another, in its parts (RFC 3986 §4.1); nothing is unescaped.
public struct URLReference: Hashable, Sendable {
  /// What stands before the first `:`, if that is a scheme.
  public var scheme: [UInt8]?
  /// What stands between `//` and the path.
  public var authority: [UInt8]?
  /// The path.
  public var path: [UInt8]
  /// What follows the first `?`.
  public var query: [UInt8]?
  /// What follows the first `#`.
  public var fragment: [UInt8]?

  /// Takes a reference apart; every text is one (RFC 3986, appendix B).
  public init(_ text: [UInt8]) {
    var rest = text[...]
    if let hash = rest.firstIndex(of: UInt8(ascii: "#")) {
      fragment = Array(rest[(hash + 1)...])
      rest = rest[..<hash]
    }
    if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
      query = Array(rest[(mark + 1)...])
      rest = rest[..<mark]
    }
    let end = rest.firstIndex { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
    if let end, rest[end] == UInt8(ascii: ":"), Self.isScheme(rest[..<end]) {
      scheme = Array(rest[..<end])
      rest = rest[(end + 1)...]
    }
    if rest.starts(with: [UInt8(ascii: "/"), UInt8(ascii: "/")]) {
      let start = rest.startIndex + 2
      let slash = rest[start...].firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
      authority = Array(rest[start..<slash])
      rest = rest[slash...]
    }
    path = Array(rest)
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

  /// What this reference stands for when `base` is where it is found (RFC 3986 §5.2.2).
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

  /// A path whose segments `.` and `..` were carried out (RFC 3986 §5.2.4).
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
    if let last = segments.last, last.elementsEqual(dot) || last.elementsEqual(dot + dot) {
      kept.append([])
    }
    let joined = kept.joined(separator: [UInt8(ascii: "/")])
    return (isAbsolute ? [UInt8(ascii: "/")] : []) + joined
  }

  private static func isScheme(_ text: ArraySlice<UInt8>) -> Bool {
    func isLetter(_ byte: UInt8) -> Bool {
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte.asciiLowercased)
    }
    return text.first.map(isLetter) ?? false
      && text.allSatisfy { byte in
        isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
      }
  }
}
