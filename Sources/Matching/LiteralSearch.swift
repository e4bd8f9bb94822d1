public import Bytes

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// A search for a sequence of bytes.
///
/// Two bytes of the sequence are looked for at 64 places at a time: those that are rarest in usual text. The sequence is
/// compared only where both are found.
public struct LiteralSearch: Hashable, Sendable {
  /// The bytes to find.
  public let text: ByteString

  /// Whether ASCII letters match in both cases.
  let ignoresCase: Bool

  /// The indexes of the two bytes to look for; the same if there is only one.
  private let (first, second): (Int, Int)

  /// The bytes that are frequent in web content, the most frequent first.
  private static let frequentBytes: [UInt8] = Array(
    " etaoinsrlcdhpumfgb.-,\"/=_vy0w1:k2;><()3{}'xS45TCA\n86EDIR79BPMNLFqjzOGU&H+VW\tX%YK#QJZ!?*[]|@$\\"
      .utf8)

  /// Creates a search.
  ///
  /// - Parameters:
  ///   - text: The bytes to find, at least one.
  ///   - ignoresCase: Whether ASCII letters match in both cases.
  public init(_ text: ByteString, ignoringASCIICase ignoresCase: Bool = false) {
    // No bytes are everywhere. Empty patterns are refused where they are typed, with a message for the user.
    precondition(!text.bytes.isEmpty, "nothing to search for")
    let text = ignoresCase ? text.asciiLowercased : text
    (self.text, self.ignoresCase) = (text, ignoresCase)
    let bytes = text.bytes
    func rarest(_ indices: some Sequence<Int>) -> Int? {
      indices.max { Self.rarity(bytes[$0]) < Self.rarity(bytes[$1]) }
    }
    let first = rarest(bytes.indices) ?? 0
    self.first = first
    // Bytes of one word come together. Those of another word, or at least other bytes, rule out more places.
    second =
      rarest(bytes.indices.filter { abs($0 - first) >= 8 })
      ?? rarest(bytes.indices.filter { bytes[$0] != bytes[first] })
      ?? rarest(bytes.indices.filter { $0 != first }) ?? first
  }

  /// Returns the rank of a byte; larger for a rarer byte.
  private static func rarity(_ byte: UInt8) -> Int {
    frequentBytes.firstIndex(of: byte) ?? frequentBytes.count
  }

  /// Returns where the first occurrence begins that does so at `start` or after it; `nil` if there is none.
  public func firstIndex(in text: Span<UInt8>, from start: Int = 0) -> Int? {
    let length = self.text.bytes.count
    guard start >= 0, text.count - start >= length else { return nil }
    // The C library finds a single byte faster.
    if length == 1, !ignoresCase { return text.firstIndex(of: self.text.bytes[0], from: start) }
    // A span has no loads of 16 bytes at a time, and `memcmp` and `memchr` want addresses.
    return unsafe text.withUnsafeBytes { text in
      unsafe self.text.bytes.withUnsafeBytes { literal in
        guard let base = text.baseAddress, let wanted = literal.baseAddress else { return nil }
        let comparison = unsafe Comparison(
          wanted, length, ignoresCase: ignoresCase, first: first, second: second)
        return unsafe comparison.firstIndex(in: base, from: start, through: text.count - length)
      }
    }
  }

  /// The comparison of the sequence with many places of a text.
  @safe
  private struct Comparison {
    private let wanted: UnsafeRawPointer
    private let length: Int
    private let ignoresCase: Bool
    private let (first, second): (Int, Int)
    private let (firstByte, secondByte): (SIMD16<UInt8>, SIMD16<UInt8>)
    /// The bit in which the cases of a letter differ, for each byte that may be in either.
    private let (firstCase, secondCase): (SIMD16<UInt8>, SIMD16<UInt8>)

    init(
      _ wanted: UnsafeRawPointer, _ length: Int, ignoresCase: Bool, first: Int, second: Int
    ) {
      unsafe self.wanted = wanted
      (self.length, self.ignoresCase) = (length, ignoresCase)
      (self.first, self.second) = (first, second)
      let firstByte = unsafe wanted.load(fromByteOffset: first, as: UInt8.self)
      let secondByte = unsafe wanted.load(fromByteOffset: second, as: UInt8.self)
      func bit(_ byte: UInt8) -> UInt8 { ignoresCase && byte.isASCIILetter ? 0x20 : 0 }
      self.firstByte = SIMD16(repeating: firstByte)
      self.secondByte = SIMD16(repeating: secondByte)
      firstCase = SIMD16(repeating: bit(firstByte))
      secondCase = SIMD16(repeating: bit(secondByte))
    }

    /// Returns the first place in a range at which the sequence begins.
    @inline(__always)
    func firstIndex(in base: UnsafeRawPointer, from start: Int, through last: Int) -> Int? {
      var place = start
      while place &+ 63 <= last {
        var found = unsafe candidates(base + place)
        unsafe found |= candidates(base + (place &+ 16))
        unsafe found |= candidates(base + (place &+ 32))
        unsafe found |= candidates(base + (place &+ 48))
        if found[0] | found[1] != 0 {
          for block in stride(from: place, to: place &+ 64, by: 16) {
            if let index = unsafe match(in: base, at: block) { return index }
          }
        }
        place &+= 64
      }
      while place &+ 15 <= last {
        if let index = unsafe match(in: base, at: place) { return index }
        place &+= 16
      }
      if place <= last, last &- start >= 15 {
        // The last sixteen places, some of which were compared before.
        return unsafe match(in: base, at: last &- 15)
      }
      while place <= last {
        if unsafe isThere(base + place) { return place }
        place &+= 1
      }
      return nil
    }

    /// Returns a byte of ones for each of sixteen places at which both bytes are.
    @inline(__always)
    private func candidates(_ place: UnsafeRawPointer) -> SIMD2<UInt64> {
      let firstBytes = unsafe (place + first).loadUnaligned(as: SIMD16<UInt8>.self)
      let secondBytes = unsafe (place + second).loadUnaligned(as: SIMD16<UInt8>.self)
      let found =
        ((firstBytes | firstCase) .== firstByte) .& ((secondBytes | secondCase) .== secondByte)
      return unsafe unsafeBitCast(found, to: SIMD2<UInt64>.self)
    }

    /// Returns the first of sixteen places at which the sequence is.
    @inline(__always)
    private func match(in base: UnsafeRawPointer, at place: Int) -> Int? {
      let found = unsafe candidates(base + place)
      for half in 0..<2 {
        var word = UInt64(littleEndian: found[half])
        while word != 0 {
          let byte = word.trailingZeroBitCount / 8
          let candidate = place &+ 8 &* half &+ byte
          if unsafe isThere(base + candidate) { return candidate }
          word &= ~(0xFF << UInt64(8 &* byte))
        }
      }
      return nil
    }

    private func isThere(_ place: UnsafeRawPointer) -> Bool {
      guard ignoresCase else { return unsafe memcmp(place, wanted, length) == 0 }
      for index in 0..<length {
        let byte = unsafe place.load(fromByteOffset: index, as: UInt8.self)
        let other = unsafe wanted.load(fromByteOffset: index, as: UInt8.self)
        guard byte.asciiLowercased == other else { return false }
      }
      return true
    }
  }
}

extension Span<UInt8> {
  /// Returns the index of the first byte at `start` or after it that equals `byte`; `nil` if there is none.
  @inline(__always)
  func firstIndex(of byte: UInt8, from start: Int) -> Int? {
    guard start < count else { return nil }
    return unsafe withUnsafeBufferPointer { bytes in
      guard let base = bytes.baseAddress,
        let found = unsafe memchr(base + start, Int32(byte), bytes.count - start)
      else { return nil }
      return unsafe UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }
  }

  /// Returns the index of the last byte before `end`, but not before `start`, that equals `byte`.
  func lastIndex(of byte: UInt8, before end: Int, downTo start: Int) -> Int? {
    var index = end
    // Lines can be long, and the C library has no such function on every system.
    let wanted = SIMD32(repeating: byte)
    unsafe withUnsafeBytes { bytes in
      while index - start >= 32 {
        let vector = unsafe bytes.loadUnaligned(fromByteOffset: index - 32, as: SIMD32<UInt8>.self)
        if any(vector .== wanted) { return }
        index -= 32
      }
    }
    while index > start {
      index &-= 1
      if self[index] == byte { return index }
    }
    return nil
  }

  /// Returns how often a byte is in a range.
  func count(of byte: UInt8, in range: Range<Int>) -> Int {
    var (count, place) = (0, range.lowerBound)
    while let found = firstIndex(of: byte, from: place), found < range.upperBound {
      (count, place) = (count + 1, found + 1)
    }
    return count
  }
}

extension ArraySlice<UInt8> {
  /// Whether one of the bytes is zero, as in hardly any text in UTF-8.
  public var containsNUL: Bool { span.firstIndex(of: 0, from: 0) != nil }
}
