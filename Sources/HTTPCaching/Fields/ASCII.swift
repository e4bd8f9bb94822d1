import Bytes

extension Array<UInt8> {
  /// Creates a copy of the bytes.
  init(copying bytes: Span<UInt8>) {
    self = []
    // For nothing, it would write to the empty array that all threads share.
    if bytes.isEmpty { return }
    append(addingCapacity: bytes.count) { (output: inout OutputSpan<UInt8>) in
      for index in bytes.indices { output.append(bytes[index]) }
    }
  }
}

extension Collection<UInt8> {
  /// Whether the bytes are `lowercased`, which is ASCII and has no capitals, when the case of ASCII
  /// letters does not matter.
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
  /// Where the bytes are without optional white space at either end (RFC 9110 §5.5).
  var trimmedRange: Range<Int> { trimmedRange(in: 0..<count) }

  /// The part of a range without optional white space at either end (RFC 9110 §5.5).
  func trimmedRange(in range: Range<Int>) -> Range<Int> {
    var (start, end) = (range.lowerBound, range.upperBound)
    while start < end, self[start].isBlank { start += 1 }
    while start < end, self[end - 1].isBlank { end -= 1 }
    return start..<end
  }

  /// How many bytes at the beginning a token may hold (RFC 9110 §5.6.2).
  var tokenLength: Int {
    for index in indices where !self[index].isTokenCharacter { return index }
    return count
  }

  /// Whether the bytes are `lowercased`, which has no capitals, when the case of ASCII letters does
  /// not matter.
  func equalsIgnoringCase(_ lowercased: [UInt8]) -> Bool {
    guard count == lowercased.count else { return false }
    let other = lowercased.span
    for index in indices where self[index].asciiLowercased != other[index] { return false }
    return true
  }
}
