import Files
import ResponseStorage

/// What a WARC file holds: where the records are that make entries.
struct WARCIndex {
  /// A response, of one record or of several.
  struct Entry {
    /// The record that is the response, or the revisit of one.
    var record: WARCInput.Place
    /// The record that has the body: another one for a revisit.
    var body: WARCInput.Place
    /// Whether the header fields are those of the record that has the body.
    var hasHeadOfBody = false
    /// Whether codings were undone by whoever wrote the body.
    var isBodyDecoded: Bool
    /// Whether the record has header fields as this program writes them.
    var isRenamed: Bool
    /// The record of the request.
    var request: WARCInput.Place?
    /// The number of bytes of the body, without codings.
    var size: Int64
    /// The SHA-256 digest of the body.
    var sha256: [UInt8]
  }

  /// The entries, in the order of their records; no two have the same key.
  var entries: [Entry] = []

  /// What makes no entry.
  var omissions: [ArchiveOmission] = []

  /// What ended the reading before the end.
  var damage: (any Error)?
}

/// Sixty-four bits that stand for a text: an index of a million records is to fit into memory.
struct WARCMark: Hashable {
  private let bits: UInt64

  /// Creates the mark of some texts.
  init(_ texts: ByteString...) {
    var digest = Digest()
    for text in texts {
      digest.update(text.bytes[...])
      digest.update([0])
    }
    bits = digest.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
