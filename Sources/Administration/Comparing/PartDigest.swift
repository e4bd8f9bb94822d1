import Bytes
import Files
import ResponseStorage

/// The first 128 bits of a SHA-256 digest.
///
/// Texts of digests would take five times as much memory, and there may be millions.
struct PartDigest: Hashable {
  private(set) var (high, low): (UInt64, UInt64) = (0, 0)

  /// The digest of something that is missing.
  static let none = PartDigest()

  private init() {}

  /// Creates a digest from its two halves.
  init(high: UInt64, low: UInt64) {
    (self.high, self.low) = (high, low)
  }

  /// Creates a digest from its hexadecimal digits, after `json ` if it is that of a JSON value.
  init(_ text: String) {
    let isJSON = text.hasPrefix("json ")
    for (index, character) in text.utf8.dropFirst(isJSON ? 5 : 0).prefix(32).enumerated() {
      let digit = UInt64(character & 0xF) + (character > 0x39 ? 9 : 0)
      if index < 16 { high = high << 4 | digit } else { low = low << 4 | digit }
    }
    // A body that is not JSON must never equal one that is.
    if isJSON { low = ~low }
  }

  /// Creates the digest of everything that was added to a hasher.
  init(_ digest: Digest) {
    for (index, byte) in digest.bytes.prefix(16).enumerated() {
      if index < 8 { high = high << 8 | UInt64(byte) } else { low = low << 8 | UInt64(byte) }
    }
  }
}

/// Bytes of which a digest is made: values with their lengths, so that moved boundaries change the digest.
struct DigestedBytes {
  // One buffer, because many short additions to a hasher are slow.
  private var bytes: [UInt8] = []

  /// The digest of all values.
  var digest: PartDigest {
    var digest = Digest()
    digest.update(bytes[...])
    return PartDigest(digest)
  }

  /// Adds a text.
  mutating func append(_ text: [UInt8]) {
    bytes.append(word: UInt64(text.count))
    bytes += text
  }

  /// Adds a number.
  mutating func append(_ number: UInt64) { bytes.append(word: number) }

  /// Adds a value of a column, with its storage class.
  // Not its description, which is found by reflection.
  mutating func append(_ value: RawResponse.Value) {
    switch value {
    case .null: append(0)
    case .integer(let number):
      append(1)
      append(UInt64(bitPattern: number))
    case .real(let number):
      append(2)
      append(number.bitPattern)
    case .text(let text):
      append(3)
      append(text.bytes)
    case .blob(let bytes):
      append(4)
      append(bytes)
    }
  }
}
