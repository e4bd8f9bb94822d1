public import Bytes
import Files
import JSON
public import ResponseStorage

extension Body {
  /// The size of the largest JSON that is normalised, in bytes, as it is read into memory. Larger bodies are compared
  /// byte by byte.
  private static let longestJSON: ByteCount = 16_777_216

  /// Returns a digest of the JSON value in the body, or of its bytes if they are not JSON or too large.
  ///
  /// White space, the order of members, string escapes and number formats do not count: they change when a program
  /// parses JSON and writes it again (RFC 8259).
  public func jsonDigest() throws -> String {
    guard size <= Self.longestJSON else { return try digest() }
    let bytes = try allBytes()
    var reader = JSONReader(bytes)
    do {
      let digest = try Self.digest(&reader)
      try reader.end()
      // The prefix keeps the digest of a value apart from that of bytes: a body that is not JSON
      // must never equal one that is.
      return "json " + Digest(of: digest).hexadecimal
    } catch is JSONError {
      return Digest(of: bytes).hexadecimal
    }
  }

  private func allBytes() throws -> [UInt8] {
    if let bytes { return bytes }
    var result: [UInt8] = []
    try forEachChunk { chunk in
      try checkSignals()
      result += chunk
    }
    return result
  }

  /// Returns the digest of the next value. The first byte of the digested data is the kind of the value.
  private static func digest(_ reader: inout JSONReader) throws -> [UInt8] {
    var digest = Digest()
    if try reader.isObject() {
      digest.update(Array("{".utf8)[...])
      var members: [(name: ByteString, value: [UInt8])] = []
      try reader.object { reader, name in
        members.append((ByteString(name), try Self.digest(&reader)))
      }
      // The order of duplicate names counts, because parsers differ in which of the two they use.
      for (_, member) in members.enumerated().sorted(by: {
        ($0.element.name, $0.offset) < ($1.element.name, $1.offset)
      }) {
        // Digests have a fixed length, so no text can move from a name into the value after it.
        digest.update(Digest(of: member.name.bytes).bytes[...])
        digest.update(member.value[...])
      }
    } else if try reader.isArray() {
      digest.update(Array("[".utf8)[...])
      try reader.array { digest.update(try Self.digest(&$0)[...]) }
    } else if try reader.isString() {
      digest.update([UInt8(ascii: "\"")] + (try reader.string()))
    } else if try reader.isNumber() {
      digest.update(Array("0".utf8) + (try normalized(reader.numeral()))[...])
    } else if try reader.null() {
      digest.update(Array("n".utf8)[...])
    } else {
      digest.update(Array(try reader.boolean() ? "t".utf8 : "f".utf8)[...])
    }
    return digest.bytes
  }

  /// Returns integers as written, however long, and other numbers as the nearest `Double`.
  private static func normalized(_ numeral: String) -> [UInt8] {
    let isInteger = numeral.utf8.allSatisfy {
      $0 == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
    }
    // Ids of 64 bits are common in JSON, and `Double` would make different ones equal beyond 2^53.
    if isInteger, numeral != "-0" { return Array(numeral.utf8) }
    guard let number = Double(numeral), number.isFinite else { return Array(numeral.utf8) }
    // 1.0 and 1e0 become 1; -0 becomes 0.
    if let integer = Int64(exactly: number) { return Array("\(integer)".utf8) }
    return Array("\(number)".utf8)
  }
}

/// The first 128 bits of the SHA-256 digest of a text, used as a key where a million texts would take too much
/// memory.
///
/// Finding a text with the digest of a given one is infeasible; finding two texts with the same digest takes 2^64
/// attempts.
public struct TextDigest: Hashable, Sendable {
  /// The first 64 bits.
  public let high: UInt64
  /// The other 64 bits.
  public let low: UInt64

  /// Creates a digest from its bits.
  public init(high: UInt64, low: UInt64) {
    (self.high, self.low) = (high, low)
  }

  /// Creates the digest of a text.
  public init(_ text: ByteString) {
    var digest = Digest()
    digest.update(text.bytes[...])
    let bytes = digest.bytes
    high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
    low = bytes[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
  }
}
