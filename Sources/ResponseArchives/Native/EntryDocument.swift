import Bytes
import ResponseStorage

/// The machine-readable part of an entry's document: all columns, and the sizes and digests of the members that
/// follow.
///
/// ``ExportedEntry/document(of:)`` writes it, with more for people.
struct EntryDocument {
  /// The archive member of a part.
  struct Member: Hashable {
    var name: RawResponse.Part.Name
    var isText: Bool
    var size: ByteCount
    var sha256: String
  }

  /// The response.
  var raw: RawResponse
  /// The members that follow, in order.
  var members: [Member]
  /// The places that were redacted, for people.
  var redacted: [String] = []
}
