import Bytes

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
