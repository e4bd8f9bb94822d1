import Bytes
import Files
import ResponseStorage

/// Writes values as WebKit's persistence encoder does: little-endian, without padding, and at the end a SHA-1 of all of
/// them, each after the number of its type.
///
/// Source: `WTF/wtf/persistence` of WebKit.
struct WebKitEncoder {
  private var bytes: [UInt8] = []
  private var sum = SHA1Digest()

  /// The bytes, with their checksum.
  var checked: [UInt8] { bytes + sum.bytes }

  private mutating func put(_ value: [UInt8], _ type: UInt8) {
    bytes += value
    sum.update([type, 0, 0, 0] + value)
  }

  private mutating func put(_ number: some FixedWidthInteger, _ type: UInt8) {
    put((0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }, type)
  }

  mutating func flag(_ value: Bool) { put([value ? 1 : 0], 3) }
  mutating func uint8(_ value: UInt8) { put(value, 5) }
  mutating func uint32(_ value: UInt32) { put(value, 11) }
  mutating func uint64(_ value: UInt64) { put(value, 13) }
  mutating func int16(_ value: Int16) { put(value, 103) }
  mutating func int64(_ value: Int64) { put(value, 19) }
  mutating func double(_ value: Double) { put(value.bitPattern, 29) }

  /// Appends bytes whose number is known, such as a digest.
  mutating func data(_ value: [UInt8]) { put(value, 101) }

  /// Appends a text; `nil` is null.
  mutating func text(_ text: ByteString?) {
    guard let text else { return uint32(.max) }
    uint32(UInt32(text.bytes.count))
    flag(true)
    data(text.bytes)
  }

  /// Appends header fields.
  mutating func fields(_ fields: [(name: ByteString, value: ByteString?)]) {
    uint64(UInt64(fields.count))
    for field in fields {
      text(field.name)
      text(field.value)
    }
  }
}

/// The key of a record, and what is hashed for it.
struct WebKitRecordKey {
  let partition: ByteString
  let type: ByteString
  let url: ByteString
  /// The SHA-1 of the salt and the partition, and of the salt and all parts.
  let (partitionHash, hash): ([UInt8], [UInt8])

  init(partition: ByteString, type: ByteString, url: ByteString, salt: [UInt8]) {
    (self.partition, self.type, self.url) = (partition, type, url)
    partitionHash = Self.hash(salt, partition.bytes)
    hash = Self.hash(salt, partition.bytes + type.bytes + url.bytes)
  }

  /// Returns the SHA-1 of the salt and bytes.
  static func hash(_ salt: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
    var digest = SHA1Digest()
    digest.update(salt[...])
    digest.update(bytes[...])
    return digest.bytes
  }

  /// Appends the key; it has no range.
  func write(to encoder: inout WebKitEncoder) {
    for text in [partition, type, url, nil] { encoder.text(text) }
    encoder.data(hash)
    encoder.data(partitionHash)
  }
}
