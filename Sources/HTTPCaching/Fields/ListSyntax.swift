import Bytes

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

extension Array<UInt8> {
  /// Creates a copy of the bytes.
  init(copying bytes: Span<UInt8>) {
    self = []
    // Appending nothing would still write to the empty array, which all threads share.
    if bytes.isEmpty { return }
    append(addingCapacity: bytes.count) { (output: inout OutputSpan<UInt8>) in
      for index in bytes.indices { output.append(bytes[index]) }
    }
  }
}

extension Collection<UInt8> {
  /// Whether the bytes equal `lowercased`, which must be ASCII without capitals, ignoring the case of ASCII letters.
  func equalsIgnoringCase(_ lowercased: String) -> Bool {
    guard count == lowercased.utf8.count else { return false }
    var index = startIndex
    for byte in lowercased.utf8 {
      guard self[index].asciiLowercased == byte else { return false }
      formIndex(after: &index)
    }
    return true
  }
}

extension Span<UInt8> {
  /// The range of the bytes without optional white space at either end (RFC 9110 §5.5).
  var trimmedRange: Range<Int> { trimmedRange(in: 0..<count) }

  /// The part of a range without optional white space at either end (RFC 9110 §5.5).
  func trimmedRange(in range: Range<Int>) -> Range<Int> {
    var (start, end) = (range.lowerBound, range.upperBound)
    while start < end, self[start].isBlank { start += 1 }
    while start < end, self[end - 1].isBlank { end -= 1 }
    return start..<end
  }

  /// The number of bytes at the beginning that may be part of a token (RFC 9110 §5.6.2).
  var tokenLength: Int {
    for index in indices where !self[index].isTokenCharacter { return index }
    return count
  }

  /// Whether the bytes equal `lowercased`, which must have no ASCII capitals, ignoring the case of ASCII letters.
  func equalsIgnoringCase(_ lowercased: [UInt8]) -> Bool {
    guard count == lowercased.count else { return false }
    let other = lowercased.span
    for index in indices where self[index].asciiLowercased != other[index] { return false }
    return true
  }
}
