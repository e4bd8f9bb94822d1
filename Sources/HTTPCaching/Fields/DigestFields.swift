/// The digests in the header section of a message (RFC 9530).
///
/// Digests with other algorithms, and malformed ones, are left out.
public struct DigestFields: Hashable, Sendable {
  /// The hash algorithm of a digest.
  public enum Algorithm: Hashable, Sendable, CaseIterable {
    case md5, sha1, sha256, sha512
  }

  /// A digest.
  public struct Value: Hashable, Sendable {
    /// The algorithm.
    public let algorithm: Algorithm
    /// The digest in Base64, as it was received.
    public let base64: [UInt8]
  }

  /// The fields with a digest of the message content; of the part in a 206.
  public static let ofContent: [FieldName] = ["Content-Digest", "Content-MD5"]

  /// The digests from `Repr-Digest` (RFC 9530 §3) and `Digest` (RFC 3230 §4.3.2), which cover the whole representation,
  /// even in a 206.
  public let ofRepresentation: [Value]

  /// The digests from `Content-Digest`, which cover the message content (RFC 9530 §2).
  public let ofContent: [Value]

  /// The digest from `Content-MD5`. In a 206, some origins compute it from the content and others from the whole
  /// representation (RFC 7231, appendix B).
  public let contentMD5: Value?

  /// Reads the digests of a message.
  public init(_ fields: FieldSection) {
    ofRepresentation =
      Self.dictionary(fields.values(of: "Repr-Digest")) + Self.list(fields.values(of: "Digest"))
    ofContent = Self.dictionary(fields.values(of: "Content-Digest"))
    contentMD5 = fields.firstValue(of: "Content-MD5").map { Value(algorithm: .md5, base64: $0) }
  }

  /// Parses a dictionary of byte sequences: `sha-256=:AAAA:` (RFC 8941 §3.2).
  private static func dictionary(_ lines: [[UInt8]]) -> [Value] {
    members(of: lines).compactMap { name, value in
      // The colons are what RFC 8941 puts around bytes. Without them, the value is no sequence of
      // bytes.
      let colon = UInt8(ascii: ":")
      // Parameters follow a `;` and are ignored (RFC 8941 §3.2).
      let item = value.prefix { $0 != UInt8(ascii: ";") }
      guard let algorithm = algorithm(name), item.count >= 2, item.first == colon,
        item.last == colon
      else { return nil }
      return Value(algorithm: algorithm, base64: Array(item.dropFirst().dropLast()))
    }
  }

  /// Parses a list such as `SHA-256=AAAA,MD5=AAAA` (RFC 3230 §4.3.2).
  private static func list(_ lines: [[UInt8]]) -> [Value] {
    members(of: lines).compactMap { name, value in
      algorithm(name).map { Value(algorithm: $0, base64: Array(value)) }
    }
  }

  /// The members of a list, each split at its first `=`.
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
      // The name of SHA-1 in the registry is `sha`, without a number.
      "md5": .md5, "sha": .sha1, "sha-256": .sha256, "sha-512": .sha512,
    ]
    return names.first { name.equalsIgnoringCase($0.key) }?.value
  }
}
