/// The checksum of gzip (RFC 1952, section 8), computed eight bytes at a time.
struct CRC32 {
  /// For each of eight positions, the effect of each byte value on the checksum.
  private static let table: [UInt32] = {
    var table = (0..<256 as Range<UInt32>).map { byte in
      // The polynomial has its bits reversed, because gzip counts the bits of a byte from the
      // lowest on.
      (0..<8).reduce(byte) { value, _ in value >> 1 ^ (value & 1 == 0 ? 0 : 0xEDB8_8320) }
    }
    for index in 256..<2_048 {
      let value = table[index - 256]
      table.append(value >> 8 ^ table[Int(value & 0xFF)])
    }
    return table
  }()

  private var state = UInt32.max

  /// The checksum of all bytes so far.
  var value: UInt32 { ~state }

  /// Adds bytes.
  mutating func append(_ bytes: ArraySlice<UInt8>) {
    state = unsafe Self.table.withUnsafeBufferPointer { table in
      unsafe bytes.withUnsafeBytes { unsafe Self.state(after: $0, from: state, table) }
    }
  }

  private static func state(
    after bytes: UnsafeRawBufferPointer, from state: UInt32, _ table: UnsafeBufferPointer<UInt32>
  ) -> UInt32 {
    var state = state
    var offset = 0
    while bytes.count - offset >= 8 {
      let word =
        unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        ^ UInt64(state)
      // The eight look-ups are independent of each other. Byte by byte, each would wait for the one
      // before.
      let low =
        unsafe table[1_792 + Int(word & 0xFF)] ^ table[1_536 + Int(word >> 8 & 0xFF)]
        ^ table[1_280 + Int(word >> 16 & 0xFF)] ^ table[1_024 + Int(word >> 24 & 0xFF)]
      let high =
        unsafe table[768 + Int(word >> 32 & 0xFF)] ^ table[512 + Int(word >> 40 & 0xFF)]
        ^ table[256 + Int(word >> 48 & 0xFF)] ^ table[Int(word >> 56)]
      state = low ^ high
      offset += 8
    }
    for index in offset..<bytes.count {
      state = unsafe state >> 8 ^ table[Int(UInt8(truncatingIfNeeded: state) ^ bytes[index])]
    }
    return state
  }
}
