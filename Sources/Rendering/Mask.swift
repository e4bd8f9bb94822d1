public import ResponseStorage

/// Replaces secrets by `***` and leaves every other byte as it is.
public enum Mask {
  /// What stands for a secret.
  public static let replacement: ByteString = "***"

  /// How often a URL in a URL is looked into.
  private static let nestingLimit = 3

  /// A URL without its user information and the values of parameters that look like tokens.
  ///
  /// Parameters are looked for in the query, in the fragment, and after a `;` in the path.
  public static func url(_ url: ByteString) -> ByteString {
    let masked = masked(url.bytes, depth: 0)
    return masked.map { ByteString($0) } ?? url
  }

  /// The value of a header field, masked if a field called `name` holds a secret.
  ///
  /// A URL in any other value is masked as ``url(_:)`` does.
  public static func headerValue(_ value: ByteString, named name: ByteString) -> ByteString {
    if SecretNames.isSecretHeader(name.bytes[...]) { return replacement }
    let bytes = value.bytes
    let holdsURL =
      bytes.contains(UInt8(ascii: "?")) || bytes.contains(UInt8(ascii: "@"))
      || bytes.contains(UInt8(ascii: "#"))
    return holdsURL ? url(value) : value
  }

  /// Properties with the values masked whose key is that of a secret, at any depth.
  public static func properties(
    _ properties: [StoredResponse.Property]
  ) -> [StoredResponse.Property] {
    properties.map { property in
      StoredResponse.Property(
        key: property.key,
        value: SecretNames.isSecretHeader(property.key.bytes[...])
          ? .text(replacement) : value(property.value))
    }
  }

  private static func value(
    _ value: StoredResponse.PropertyValue
  ) -> StoredResponse.PropertyValue {
    switch value {
    case .text(let text): .text(isWebToken(text.bytes[...]) ? replacement : url(text))
    case .array(let values): .array(values.map(Self.value))
    case .dictionary(let members): .dictionary(properties(members))
    case .null, .boolean, .integer, .real, .date, .data, .opaque: value
    }
  }

  /// The masked form of a URL, or `nil` if there is nothing to mask.
  private static func masked(_ url: [UInt8], depth: Int) -> [UInt8]? {
    guard url.contains(where: { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "=") }) else {
      return nil
    }
    var result: [UInt8] = []
    result.reserveCapacity(url.count)
    var position = appendAuthority(of: url, to: &result)
    // Whether `position` may begin a parameter, and in which part of the URL it is.
    var mayBegin = false
    var part = Part.path
    // Where the last value ended; what is before it is looked into once, however many `;` it has.
    var valueEnd = 0
    while position < url.count {
      if mayBegin,
        let parameter = Parameter(in: url, at: position, part: part, knownEnd: valueEnd)
      {
        result.append(contentsOf: url[position..<parameter.value.lowerBound])
        let value = url[parameter.value]
        let isSecret =
          SecretNames.isSecretParameter(percentDecoded(url[parameter.name]))
          || isWebToken(value)
          || (parameter.value.upperBound != valueEnd && holdsSecret(value, depth: depth))
        valueEnd = parameter.value.upperBound
        if isSecret, !value.isEmpty {
          result.append(contentsOf: replacement.bytes)
          position = parameter.value.upperBound
        } else {
          position = parameter.value.lowerBound
        }
        mayBegin = false
        continue
      }
      let byte = url[position]
      result.append(byte)
      mayBegin = part.enters(byte)
      position += 1
    }
    return result
  }

  /// Copies the scheme and the authority without its user information, and returns where they end.
  private static func appendAuthority(of url: [UInt8], to result: inout [UInt8]) -> Int {
    let slash = UInt8(ascii: "/")
    var start = 0
    while start + 1 < url.count, url[start] != slash || url[start + 1] != slash {
      if url[start] == UInt8(ascii: "?") || url[start] == UInt8(ascii: "#") { return 0 }
      start += 1
    }
    guard start + 1 < url.count else { return 0 }
    start += 2
    let ends: [UInt8] = [slash, UInt8(ascii: "?"), UInt8(ascii: "#")]
    let end = url[start...].firstIndex { ends.contains($0) } ?? url.count
    result.append(contentsOf: url[..<start])
    if let at = url[start..<end].lastIndex(of: UInt8(ascii: "@")) {
      if at > start { result.append(contentsOf: replacement.bytes) }
      result.append(contentsOf: url[at..<end])
    } else {
      result.append(contentsOf: url[start..<end])
    }
    return end
  }

  /// Whether a percent-encoded value is a URL or a form that holds a secret of its own.
  private static func holdsSecret(_ value: ArraySlice<UInt8>, depth: Int) -> Bool {
    guard depth < nestingLimit, value.contains(UInt8(ascii: "%")) else { return false }
    let decoded = percentDecoded(value)
    if let masked = masked(decoded, depth: depth + 1), masked != decoded { return true }
    let query = [UInt8(ascii: "?")] + decoded
    return masked(query, depth: depth + 1).map { $0 != query } ?? false
  }

  /// Whether a value looks like a JSON Web Token.
  private static func isWebToken(_ value: ArraySlice<UInt8>) -> Bool {
    guard value.starts(with: [UInt8(ascii: "e"), UInt8(ascii: "y"), UInt8(ascii: "J")]) else {
      return false
    }
    // No token has a `;` in it, and a value may have many parameters after one.
    let end = value.firstIndex { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ";") }
    return end.map { value[$0] == UInt8(ascii: ".") } ?? false
  }

  /// The bytes with `%XX` replaced by what it stands for, and `+` by a space.
  static func percentDecoded(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let byte = bytes[index]
      if byte == UInt8(ascii: "%"), index + 2 < bytes.endIndex,
        let high = hexadecimalDigit(bytes[index + 1]), let low = hexadecimalDigit(bytes[index + 2])
      {
        result.append(high << 4 | low)
        index += 3
      } else {
        result.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
        index += 1
      }
    }
    return result
  }

  private static func hexadecimalDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

extension Mask {
  /// The part of a URL that a position is in.
  fileprivate enum Part {
    case path
    case query
    case fragment

    /// Goes to the part that begins after `byte`, and returns whether a parameter may begin there.
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
  fileprivate struct Parameter {
    let name: Range<Int>
    let value: Range<Int>

    /// The parameter that begins at `start`, or `nil` if there is no `=` in time.
    ///
    /// - Parameter knownEnd: Where the value before it ended, which is here too if it is not past.
    init?(in url: [UInt8], at start: Int, part: Part, knownEnd: Int) {
      var equals = start
      while equals < url.count, url[equals] != UInt8(ascii: "=") {
        switch url[equals] {
        case UInt8(ascii: "&"), UInt8(ascii: ";"), UInt8(ascii: "#"), UInt8(ascii: "?"): return nil
        case UInt8(ascii: "/") where part == .path: return nil
        default: equals += 1
        }
      }
      guard equals < url.count else { return nil }
      var end = max(equals + 1, knownEnd)
      scan: while end < url.count {
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
