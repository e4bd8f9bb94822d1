extension BinaryPropertyList {
  /// The value of a boolean; `nil` for any other object.
  ///
  /// - Complexity: O(1).
  public func boolean(_ object: Object) throws(PropertyListError) -> Bool? {
    let head = try head(of: object)
    return try kind(of: head) == .boolean ? head.marker == 0x09 : nil
  }

  /// The value of an integer; `nil` for any other object.
  ///
  /// Integers of 1, 2 and 4 bytes are unsigned; those of 8 bytes are signed. One of 16 bytes that does not fit is
  /// malformed.
  ///
  /// - Complexity: O(1).
  public func integer(_ object: Object) throws(PropertyListError) -> Int64? {
    try integerIfAny(head(of: object))
  }

  /// The integer with this head; `nil` if it is the head of another type.
  @inline(__always)
  func integerIfAny(_ head: Head) throws(PropertyListError) -> Int64? {
    // Integers of 1 to 8 bytes are by far the most common, and need no check of the type.
    guard head.marker & 0xFC != 0x10 else { return try shortInteger(head) }
    return try kind(of: head) == .integer ? integer(head) : nil
  }

  func integer(_ head: Head) throws(PropertyListError) -> Int64 {
    guard head.count == 4 else { return try shortInteger(head) }
    try check(head, size: 16, count: 1)
    let high = Int64(bitPattern: bits(at: head.payload, size: 8))
    let low = Int64(bitPattern: bits(at: head.payload + 8, size: 8))
    // The high half may only extend the sign of the low half.
    // CoreFoundation writes 16 bytes for an unsigned number beyond `Int64`, for which there is no
    // room here.
    guard high == 0 && low >= 0 || high == -1 && low < 0 else {
      throw PropertyListError(.malformed, at: head.offset)
    }
    return low
  }

  @inline(__always)
  private func shortInteger(_ head: Head) throws(PropertyListError) -> Int64 {
    let size = 1 &<< head.count
    try check(head, size: size, count: 1)
    return Int64(bitPattern: bits(at: head.payload, size: size))
  }

  /// The value of a real number; `nil` for any other object, including an integer.
  ///
  /// - Complexity: O(1).
  public func real(_ object: Object) throws(PropertyListError) -> Double? {
    try realIfAny(head(of: object))
  }

  /// The real number with this head; `nil` if it is the head of another type.
  @inline(__always)
  func realIfAny(_ head: Head) throws(PropertyListError) -> Double? {
    // Real numbers of 8 bytes are the most common, and need no check of the type.
    guard head.marker != 0x23 else { return try double(head) }
    return try kind(of: head) == .real ? real(head) : nil
  }

  func real(_ head: Head) throws(PropertyListError) -> Double {
    guard head.count == 2 else { return try double(head) }
    try check(head, size: 4, count: 1)
    return Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits(at: head.payload, size: 4))))
  }

  @inline(__always)
  private func double(_ head: Head) throws(PropertyListError) -> Double {
    try check(head, size: 8, count: 1)
    return Double(bitPattern: Self.word(bytes, at: head.payload))
  }

  /// The value of a date, in seconds since 2001-01-01 00:00:00 UTC; `nil` for any other object.
  ///
  /// A date that is not finite is malformed.
  ///
  /// - Complexity: O(1).
  public func date(_ object: Object) throws(PropertyListError) -> Double? {
    let head = try head(of: object)
    guard try kind(of: head) == .date else { return nil }
    return try date(head)
  }

  func date(_ head: Head) throws(PropertyListError) -> Double {
    try check(head, size: 8, count: 1)
    let seconds = Double(bitPattern: bits(at: head.payload, size: 8))
    // Printing a `Date` of NaN ends a process with Foundation, and comparing one is never true.
    guard seconds.isFinite else { throw PropertyListError(.malformed, at: head.offset) }
    return seconds
  }

  /// The number of a keyed archive's reference; `nil` for any other object.
  ///
  /// - Complexity: O(1).
  public func uid(_ object: Object) throws(PropertyListError) -> UInt64? {
    let head = try head(of: object)
    guard head.type == 0x8 else { return nil }
    return try uid(head)
  }

  func uid(_ head: Head) throws(PropertyListError) -> UInt64 {
    // The low four bits of the marker can announce 16 bytes, which no number here has room for.
    guard head.count < 8 else { throw PropertyListError(.malformed, at: head.offset) }
    try check(head, size: head.count + 1, count: 1)
    return bits(at: head.payload, size: head.count + 1)
  }

  /// The bytes of a data object; `nil` for any other object.
  ///
  /// - Complexity: O(1).
  @_lifetime(copy self)
  public func data(_ object: Object) throws(PropertyListError) -> Span<UInt8>? {
    let head = try head(of: object)
    guard try kind(of: head) == .data else { return nil }
    try check(head, size: 1, count: head.count)
    return bytes.extracting(head.payload..<head.payload + head.count)
  }

  /// The text of a string in UTF-8; `nil` for any other object.
  ///
  /// A string of single bytes should be ASCII; its bytes are returned unchanged. An unpaired surrogate becomes the
  /// three bytes that UTF-8 would use for it, which is not valid UTF-8.
  ///
  /// - Complexity: O(*n*), where *n* is the length of the string.
  public func utf8(_ string: Object) throws(PropertyListError) -> [UInt8]? {
    var text: [UInt8] = []
    return try utf8(string, into: &text) ? text : nil
  }

  /// The bytes of a string of single bytes, which should be ASCII; `nil` for any other object.
  ///
  /// - Complexity: O(1).
  @_lifetime(copy self)
  public func ascii(_ string: Object) throws(PropertyListError) -> Span<UInt8>? {
    let head = try head(of: string)
    guard head.type == 0x5 else { return nil }
    try check(head, size: 1, count: head.count)
    return bytes.extracting(head.payload..<head.payload &+ head.count)
  }

  /// Replaces `text` with the text of a string in UTF-8, reusing its memory. If the object is not a string, `text`
  /// becomes empty.
  ///
  /// - Returns: Whether the object is a string.
  /// - Complexity: O(*n*), where *n* is the length of the string.
  public func utf8(
    _ string: Object, into text: inout [UInt8]
  ) throws(PropertyListError) -> Bool {
    let head = try head(of: string)
    text.removeAll(keepingCapacity: true)
    guard head.type == 0x5 || head.type == 0x6 else { return false }
    try appendUTF8(head, to: &text)
    return true
  }

  func utf8(_ head: Head) throws(PropertyListError) -> [UInt8] {
    var text: [UInt8] = []
    try appendUTF8(head, to: &text)
    return text
  }

  private func appendUTF8(
    _ head: Head, to text: inout [UInt8]
  ) throws(PropertyListError) {
    if head.type == 0x5 {
      try check(head, size: 1, count: head.count)
      append(head.payload..<head.payload + head.count, to: &text)
      return
    }
    try check(head, size: 2, count: head.count)
    text.reserveCapacity(head.count)
    var position = head.payload
    let end = head.payload + head.count * 2
    while position < end {
      var scalar = UInt32(bits(at: position, size: 2))
      position += 2
      // Strings of CoreFoundation are any 16-bit units, so a hostile or truncated text can have
      // half of a pair. Replacing it would make two different keys equal.
      if scalar & 0xFC00 == 0xD800, position < end {
        let second = UInt32(bits(at: position, size: 2))
        if second & 0xFC00 == 0xDC00 {
          scalar = 0x10000 + (scalar & 0x3FF) << 10 + second & 0x3FF
          position += 2
        }
      }
      Self.append(scalar, to: &text)
    }
  }

  /// Returns a copy of a range of the bytes.
  func copy(_ range: Range<Int>) -> [UInt8] {
    var copy: [UInt8] = []
    append(range, to: &copy)
    return copy
  }

  @inline(__always)
  private func append(_ range: Range<Int>, to other: inout [UInt8]) {
    let bytes = bytes.extracting(range)
    // Appending nothing would still write to the empty array, which all threads share.
    if bytes.isEmpty { return }
    other.append(addingCapacity: bytes.count) { (output: inout OutputSpan<UInt8>) in
      for index in bytes.indices { output.append(bytes[index]) }
    }
  }

  @inline(__always)
  private func bits(at offset: Int, size: Int) -> UInt64 {
    Self.bits(bytes, at: offset, size: size)
  }

  private static func append(_ scalar: UInt32, to bytes: inout [UInt8]) {
    func continuation(_ shift: UInt32) -> UInt8 { UInt8(0x80 | scalar >> shift & 0x3F) }
    switch scalar {
    case ..<0x80: bytes.append(UInt8(scalar))
    case ..<0x800:
      bytes.append(UInt8(0xC0 | scalar >> 6))
      bytes.append(continuation(0))
    case ..<0x10000:
      bytes.append(UInt8(0xE0 | scalar >> 12))
      bytes.append(continuation(6))
      bytes.append(continuation(0))
    default:
      bytes.append(UInt8(0xF0 | scalar >> 18))
      bytes.append(continuation(12))
      bytes.append(continuation(6))
      bytes.append(continuation(0))
    }
  }
}
