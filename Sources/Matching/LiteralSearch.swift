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
/// The C library looks for the byte of the sequence that is rarest in usual text, many bytes at a time, and compares the
/// sequence where it finds that byte.
public struct LiteralSearch: Hashable, Sendable {
  /// The bytes to find.
  public let text: ByteString

  /// The index of the byte that is probably rarest in the text to search.
  private let rarest: Int

  /// The bytes that are frequent in web content, the most frequent first.
  private static let frequentBytes: [UInt8] = Array(
    " etaoinsrlcdhpumfgb.-,\"/=_vy0w1:k2;><()3{}'xS45TCA\n86EDIR79BPMNLFqjzOGU&H+VW\tX%YK#QJZ!?*[]|@$\\"
      .utf8)

  /// Creates a search.
  ///
  /// - Parameter text: The bytes to find, at least one.
  public init(_ text: ByteString) {
    // No bytes are everywhere. Empty patterns are refused where they are typed, with a message for the user.
    precondition(!text.bytes.isEmpty, "nothing to search for")
    self.text = text
    rarest =
      text.bytes.indices.max { Self.rarity(text.bytes[$0]) < Self.rarity(text.bytes[$1]) } ?? 0
  }

  /// Returns the rank of a byte; larger for a rarer byte.
  private static func rarity(_ byte: UInt8) -> Int {
    frequentBytes.firstIndex(of: byte) ?? frequentBytes.count
  }

  /// Returns where the first occurrence begins that does so at `start` or after it; `nil` if there is none.
  public func firstIndex(in text: Span<UInt8>, from start: Int = 0) -> Int? {
    let length = self.text.bytes.count
    guard start >= 0, text.count - start >= length else { return nil }
    return unsafe text.withUnsafeBufferPointer { text in
      unsafe self.text.bytes.withUnsafeBufferPointer { literal in
        guard let base = text.baseAddress, let wanted = literal.baseAddress else { return nil }
        let byte = Int32(unsafe literal[rarest])
        let last = text.count - length + rarest
        var place = start + rarest
        while place <= last {
          guard let found = unsafe memchr(base + place, byte, last + 1 - place) else { return nil }
          place = unsafe UnsafeRawPointer(found) - UnsafeRawPointer(base)
          let candidate = place - rarest
          if unsafe memcmp(base + candidate, wanted, length) == 0 { return candidate }
          place += 1
        }
        return nil
      }
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
