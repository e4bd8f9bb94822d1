/// The members of a field value that is a list (RFC 9110 §5.6.1).
struct ListMembers {
  /// The members without white space around them; empty ones are left out.
  private(set) var members: [ArraySlice<UInt8>] = []

  /// The text from a quotation mark on that no other closes, or `nil`.
  private(set) var unclosed: ArraySlice<UInt8>?

  /// Splits a value at its commas, except for those between quotation marks (RFC 9110 §5.6.4).
  init(_ value: [UInt8]) {
    var start = value.startIndex
    var openQuote: Int?
    var position = value.startIndex
    while position < value.endIndex {
      switch value[position] {
      case UInt8(ascii: "\""): openQuote = openQuote == nil ? position : nil
      // What follows a backslash stands for itself.
      case UInt8(ascii: "\\") where openQuote != nil: position += 1
      case UInt8(ascii: ",") where openQuote == nil:
        append(value[start..<position])
        start = position + 1
      default: break
      }
      position += 1
    }
    append(value[start...])
    unclosed = openQuote.map { value[$0...] }
  }

  private mutating func append(_ member: ArraySlice<UInt8>) {
    let member = member.trimmed
    if !member.isEmpty { members.append(member) }
  }
}

/// The text between the quotation marks of a quoted string, its escapes resolved, or `nil` if the
/// bytes are not one quoted string (RFC 9110 §5.6.4).
func unquoted(_ text: ArraySlice<UInt8>) -> [UInt8]? {
  guard text.first == UInt8(ascii: "\"") else { return nil }
  var result: [UInt8] = []
  var isEscaped = false
  for position in text.indices.dropFirst() {
    let byte = text[position]
    if isEscaped {
      result.append(byte)
      isEscaped = false
    } else if byte == UInt8(ascii: "\\") {
      isEscaped = true
    } else if byte == UInt8(ascii: "\"") {
      return position == text.indices.last ? result : nil
    } else {
      result.append(byte)
    }
  }
  return nil
}
