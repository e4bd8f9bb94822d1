public import Bytes
public import ResponseStorage

/// A record of an archive that does not match a digest, and is left out.
///
/// Records before and after it are read: the digest covers only the contents of the record, and its length was right.
public struct DamagedRecord: Hashable, Sendable {
  /// The number of the record in the archive, starting at 1.
  public let number: Int64

  /// Where the record is, for display: `byte 1234`.
  public let place: String

  /// The URL of the record.
  public let url: ByteString?

  /// What is wrong: a clause without text from the archive.
  public let reason: String

  // A hostile file could have millions of them; their number is counted as an omission.
  /// The maximum number of records that an archive names.
  static let mostNamed = 1_000

  /// The description without the URL: `record 7 at byte 1234 does not match the digest of its payload`.
  public var description: String { "record \(number) at \(place) \(reason)" }
}

extension Finding.Code {
  /// A record that was changed or damaged after its digest was made.
  public static let wrongDigest = Self(
    "wrong-digest", .error,
    "the record was damaged or changed after it was written; it is left out")
}
