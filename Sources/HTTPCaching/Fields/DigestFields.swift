/// The digests that a message gives of what it contains (RFC 9530).
///
/// Digests by other algorithms are left out, and so is what is not written as it has to be.
public struct DigestFields: Hashable, Sendable {
  /// How a digest is made.
  public enum Algorithm: Hashable, Sendable, CaseIterable {
    case md5, sha1, sha256, sha512
  }

  /// A digest.
  public struct Value: Hashable, Sendable {
    /// How it is made.
    public let algorithm: Algorithm
    /// The digest in Base64, as it was received.
    public let base64: [UInt8]
  }

  /// The fields that are about what the message itself contains: of a 206, the part.
  public static let ofContent: [FieldName] = ["Content-Digest", "Content-MD5"]

  /// Those of `Repr-Digest` (RFC 9530 §3) and `Digest` (RFC 3230 §4.3.2), which are about the whole
  /// representation, also in a 206.
  public let ofRepresentation: [Value]

  /// Those of `Content-Digest`, which are about what the message contains (RFC 9530 §2).
  public let ofContent: [Value]

  /// That of `Content-MD5`, which some origins make of what a 206 contains, and others of the whole
  /// (RFC 7231, appendix B).
  public let contentMD5: Value?

  /// Reads the fields of a message.
  public init(_ fields: FieldSection) {
    ofRepresentation =
      Self.dictionary(fields.values(of: "Repr-Digest")) + Self.list(fields.values(of: "Digest"))
    ofContent = Self.dictionary(fields.values(of: "Content-Digest"))
    contentMD5 = fields.firstValue(of: "Content-MD5").map { Value(algorithm: .md5, base64: $0) }
  }

  /// Reads a dictionary of byte sequences: `sha-256=:AAAA:` (RFC 8941 §3.2).
  private static func dictionary(_ lines: [[UInt8]]) -> [Value] {
    members(of: lines).compactMap { name, value in
      let colon = UInt8(ascii: ":")
      let item = value.prefix { $0 != UInt8(ascii: ";") }
      guard let algorithm = algorithm(name), item.count >= 2, item.first == colon,
        item.last == colon
      else { return nil }
      return Value(algorithm: algorithm, base64: Array(item.dropFirst().dropLast()))
    }
  }

  /// Reads a list such as `SHA-256=AAAA,MD5=AAAA` (RFC 3230 §4.3.2).
  private static func list(_ lines: [[UInt8]]) -> [Value] {
    members(of: lines).compactMap { name, value in
      algorithm(name).map { Value(algorithm: $0, base64: Array(value)) }
    }
  }

  /// The members of a list, each parted at its first `=`.
  private static func members(
    of lines: [[UInt8]]
  ) -> [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] {
    lines.flatMap { ListMembers($0).members }.compactMap { member in
      guard let sign = member.firstIndex(of: UInt8(ascii: "=")) else { return nil }
      return (member[..<sign], member[(sign + 1)...])
    }
  }

  private static func algorithm(_ name: ArraySlice<UInt8>) -> Algorithm? {
    let names: KeyValuePairs<String, Algorithm> = [
      "md5": .md5, "sha": .sha1, "sha-256": .sha256, "sha-512": .sha512,
    ]
    return names.first { name.equalsIgnoringCase($0.key) }?.value
  }
}
