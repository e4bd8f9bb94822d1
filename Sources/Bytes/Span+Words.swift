extension Span<UInt8> {
  /// Eight bytes as a little-endian number.
  ///
  /// - Precondition: All eight bytes are in the span.
  @inlinable
  @inline(__always)
  public func word(at place: Int) -> UInt64 {
    // With the length known and the bytes in this order, the compiler emits a single load.
    let word = extracting(place..<place &+ 8)
    let low =
      UInt64(word[0]) | UInt64(word[1]) << 8 | UInt64(word[2]) << 16 | UInt64(word[3]) << 24
    let high =
      UInt64(word[4]) << 32 | UInt64(word[5]) << 40 | UInt64(word[6]) << 48 | UInt64(word[7]) << 56
    return low | high
  }

  /// Up to eight bytes as a little-endian number, with zeros for bytes beyond the end of the span.
  @inlinable
  public func word(paddedAt place: Int) -> UInt64 {
    if place &+ 8 <= count { return word(at: place) }
    let rest = extracting(droppingFirst: place)
    var word: UInt64 = 0
    for index in rest.indices { word |= UInt64(rest[index]) << UInt64(8 * index) }
    return word
  }

  /// Whether the span begins with the bytes of another one. Eight bytes are compared at a time.
  public func starts(with other: Span<UInt8>) -> Bool {
    guard other.count <= count else { return false }
    var place = 0
    while place &+ 8 <= other.count {
      if word(at: place) != other.word(at: place) { return false }
      place &+= 8
    }
    return extracting(place..<other.count).word(paddedAt: 0)
      == other.extracting(place...).word(paddedAt: 0)
  }
}

extension [UInt8] {
  /// Appends a word, as ``Swift/Span/word(at:)`` reads it: the lowest byte first.
  @inlinable
  public mutating func append(word: UInt64) {
    append(addingCapacity: 8) { (output: inout OutputSpan<UInt8>) in
      for shift in stride(from: 0, to: 64 as UInt64, by: 8) {
        output.append(UInt8(truncatingIfNeeded: word >> shift))
      }
    }
  }
}
