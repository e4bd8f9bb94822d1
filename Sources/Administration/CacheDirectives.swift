import ResponseStorage

/// The names of the cache directives of a message (RFC 9111 §5.2).
struct CacheDirectives {
  private var names: [ByteString] = []

  init(_ headers: HeaderFields?) {
    for field in headers?.fields ?? []
    where field.name.equalsIgnoringASCIICase("cache-control") {
      addNames(in: field.value.bytes)
    }
  }

  /// Whether there is a directive of that name, which is in small letters.
  func contains(_ name: StaticString) -> Bool {
    names.contains(ByteString(stringLiteral: name))
  }

  /// Adds what stands before each `=` or `,`; a comma in a quoted string separates nothing
  /// (RFC 9110 §5.6.4).
  private mutating func addNames(in value: [UInt8]) {
    var name: [UInt8] = []
    var (isQuoted, isEscaped, isName) = (false, false, true)
    for byte in value + [UInt8(ascii: ",")] {
      if isQuoted {
        isQuoted = isEscaped || byte != UInt8(ascii: "\"")
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): (isQuoted, isName) = (true, false)
      case UInt8(ascii: "="): isName = false
      case UInt8(ascii: ","):
        if !name.isEmpty { names.append(ByteString(name)) }
        (name, isName) = ([], true)
      case UInt8(ascii: " "), UInt8(ascii: "\t"): break
      default: if isName { name.append(byte.asciiLowercased) }
      }
    }
  }
}
