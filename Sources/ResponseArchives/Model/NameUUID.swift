import Bytes
import Files

/// UUIDs derived from a name (version 5, RFC 9562 §5.5): the same name always gives the same UUID.
enum NameUUID {
  /// The namespace of this program.
  private static let namespace: [UInt8] = [
    0x5C, 0x8E, 0x1B, 0x0A, 0x93, 0x6D, 0x4F, 0x27, 0xA1, 0x42, 0x7E, 0x90, 0xD3, 0x58, 0xB6, 0xC4,
  ]

  /// Returns the UUID of a name.
  static func make(of name: [UInt8]) -> String {
    var digest = SHA1Digest()
    digest.update(namespace[...])
    digest.update(name[...])
    var bytes = Array(digest.bytes.prefix(16))
    // The version (5) and the variant of RFC 9562 §4.
    bytes[6] = bytes[6] & 0x0F | 0x50
    bytes[8] = bytes[8] & 0x3F | 0x80
    return String(decoding: Base16.uuid(bytes), as: UTF8.self)
  }
}
