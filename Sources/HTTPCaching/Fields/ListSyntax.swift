/// The members of a field value that is a list (RFC 9110 §5.6.1).
struct ListMembers {
  /// The members without surrounding white space. Empty members are left out.
  private(set) var members: [ArraySlice<UInt8>] = []

  /// Splits a value at its commas, except for those between quotation marks (RFC 9110 §5.6.4).
  init(_ value: [UInt8]) {
    var members: [ArraySlice<UInt8>] = []
    _ = Self.forEachMember(of: value.span) { members.append(value[$0]) }
    self.members = members
  }

  /// Calls `body` with the range of each member, as in ``members``.
  ///
  /// - Returns: The index of the unclosed quotation mark, or `nil`.
  static func forEachMember(of value: Span<UInt8>, _ body: (Range<Int>) -> Void) -> Int? {
    var start = 0
    var openQuote: Int?
    var position = 0
    func end() {
      // A backslash at the end moves the position beyond the end.
      let member = value.trimmedRange(in: start..<min(position, value.count))
      if !member.isEmpty { body(member) }
    }
    while position < value.count {
      let byte = value[position]
      // Most bytes are letters, which come after all significant bytes except the backslash.
      if byte > UInt8(ascii: ","), byte != UInt8(ascii: "\\") {
        position &+= 1
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): openQuote = openQuote == nil ? position : nil
      // A backslash escapes the next byte.
      // Outside of a quoted string, a backslash is an ordinary byte (RFC 9110 §5.6.4).
      case UInt8(ascii: "\\") where openQuote != nil: position += 1
      case UInt8(ascii: ",") where openQuote == nil:
        end()
        start = position + 1
      default: break
      }
      position += 1
    }
    end()
    return openQuote
  }
}

/// The text of a quoted string, unescaped; `nil` if the bytes are not exactly one quoted string (RFC 9110 §5.6.4).
func unquoted(_ text: Span<UInt8>) -> [UInt8]? {
  guard !text.isEmpty, text[0] == UInt8(ascii: "\"") else { return nil }
  var result: [UInt8] = []
  var isEscaped = false
  for position in 1..<text.count {
    let byte = text[position]
    if isEscaped {
      result.append(byte)
      isEscaped = false
    } else if byte == UInt8(ascii: "\\") {
      isEscaped = true
    } else if byte == UInt8(ascii: "\"") {
      // `"a" b` is not a quoted string. What follows the closing mark would be lost silently.
      return position == text.count - 1 ? result : nil
    } else {
      result.append(byte)
    }
  }
  return nil
}
