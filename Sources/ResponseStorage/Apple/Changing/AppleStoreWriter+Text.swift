import Bytes

extension AppleStoreWriter {
  /// Returns a random UUID (RFC 9562 §5.4) in capitals, which is how CFNetwork names body files.
  public static func uuid(_ high: UInt64, _ low: UInt64) -> [UInt8] {
    // Version 4 and variant 10 mark a random UUID.
    let high = high & ~0xF000 | 0x4000
    let low = low & ~(0b11 << 62) | 0b10 << 62
    let bytes = [high, low].flatMap { word in
      (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) }
    }
    return Base16.uuid(bytes, .capital)
  }

  /// Returns a time in the format of SQLite's `CURRENT_TIMESTAMP`: UTC, whole seconds.
  static func text(of moment: Timestamp) -> [UInt8] {
    var text: [UInt8] = []
    text.append(CivilTime(moment), separator: UInt8(ascii: " "))
    return text
  }
}
