import Bytes

/// What a WARC file holds: where the records are that make entries.
struct WARCIndex {
  /// A response, of one record or of several.
  struct Entry {
    /// The record that is the response, or the revisit of one.
    var record: WARCInput.Place
    /// The record that has the body: another one for a revisit.
    var body: WARCInput.Place
    /// The record of the request.
    var request: WARCInput.Place?
    /// Whether the header fields are those of the record that has the body.
    var hasHeadOfBody = false
    /// Whether codings were undone by whoever wrote the body.
    var isBodyDecoded: Bool
    /// Whether the record has header fields as this program writes them.
    var isRenamed: Bool
    /// The number of bytes of the body, without codings.
    var size: ByteCount = 0
    /// The SHA-256 digest of the body; none of one that is in memory when somebody asks for it.
    var sha256: [UInt8] = []
  }

  /// The largest body that is in memory, in bytes.
  static let largestInMemory = ByteCount(1 << 16)

  /// The entries, in the order of their records; no two have the same key.
  var entries: [Entry] = []

  /// What makes no entry.
  var omissions: [ArchiveOmission] = []

  /// What ended the reading before the end.
  var damage: (any Error)?
}
