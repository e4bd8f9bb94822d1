import Bytes
import ResponseStorage

/// What a watch remembers of an entry from one look at the cache to the next.
struct SeenEntry {
  let id: StoredResponse.ID
  /// A hash of the key; `nil` if the entry has none.
  let key: Int?
  /// A hash of what changes whenever the entry is stored again.
  var version: Int
  /// The URL; `nil` if it is unknown, or if there are too many to remember.
  var url: ByteString?
  var size: ByteCount?
  /// Whether the entry was selected when it was stored.
  var isSelected = false
  /// Whether the entry has been read, and not only seen.
  var isRead = false

  /// The fields that ``init(_:)`` needs, which are quickly read.
  static let projection: Projection = [.key, .stored, .file]

  init(_ response: borrowing StoredResponse) {
    id = response.id
    key = response.key.map(\.hashValue)
    var hasher = Hasher()
    // CFNetwork stores the time of an update with the response. Foundation writes another file.
    hasher.combine(response.stored)
    hasher.combine(response.file)
    version = hasher.finalize()
  }

  /// Remembers more of the entry.
  ///
  /// - Parameter urlBytes: How many bytes of URLs may still be remembered.
  mutating func read(
    _ response: borrowing StoredResponse, isSelected: Bool, urlBytes: inout Int
  ) {
    (isRead, self.isSelected) = (true, isSelected)
    size = response.bodySize
    urlBytes += url?.bytes.count ?? 0
    url = nil
    guard isSelected, let url = response.url ?? response.key, url.bytes.count <= urlBytes else {
      return
    }
    urlBytes -= url.bytes.count
    self.url = url
  }
}
