import Bytes
import ResponseStorage

/// What an archive says of an entry, before its bytes, as far as it is read again: all columns, and the sizes
/// and digests of the members that follow.
///
/// ``ExportedEntry/document(of:)`` writes it, with more for people.
struct EntryDocument {
  /// A member that holds a part.
  struct Member: Hashable {
    var name: RawResponse.Part.Name
    var isText: Bool
    var size: ByteCount
    var sha256: String
  }

  /// The response.
  var raw: RawResponse
  /// The members that follow, in their order.
  var members: [Member]
  /// What was redacted, in words.
  var redacted: [String] = []
}
