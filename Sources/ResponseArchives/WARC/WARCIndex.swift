import Bytes

/// The index of a WARC file: the places of the records that become entries.
struct WARCIndex: Sendable {
  /// A record that an entry needs.
  struct Record: Hashable {
    /// Its place in the file.
    var place: WARCInput.Place
    /// The offset of its head in ``heads``.
    var copy: Int64 = 0
  }

  /// A response, from one record or several.
  struct Entry: Sendable {
    /// The response or revisit record.
    var record: Record
    /// The record with the body; for a revisit, a different one.
    var body: Record
    /// The request record.
    var request: Record?
    /// Whether to use the header fields of the record with the body.
    var hasHeadOfBody = false
    /// Whether the body was stored without its codings.
    var isBodyDecoded: Bool
    /// Whether this program wrote the record and renamed header fields in it.
    var isRenamed: Bool
    /// Whether the body ends before the end of its record.
    var isCut = false
    /// The size of the body, without codings, in bytes.
    var size: ByteCount = 0
    /// The SHA-256 digest of the body; empty for bodies that are small enough to be read into memory.
    var sha256: [UInt8] = []
  }

  // A body in memory needs neither a digest in the index nor a second reading of its record.
  /// The size of the largest body that is read into memory, in bytes.
  static let largestInMemory = ByteCount(1 << 16)

  /// The entries, in the order of their records; no two have the same key.
  var entries: [Entry] = []

  /// The records that become no entry.
  var omissions: [ArchiveOmission] = []

  /// The first records that do not match their digest.
  var damaged: [DamagedRecord] = []

  /// The number of entries that are redirects whose bodies were not recorded.
  var redirectsWithoutBody: Int64 = 0

  /// The copies of the heads of the records; `nil` if there are none.
  var heads: FileBytes?

  /// The error that ended reading early, if any.
  var damage: (any Error)?
}
