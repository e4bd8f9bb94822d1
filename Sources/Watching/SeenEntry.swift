import Bytes
import ResponseStorage

/// What a watch remembers of an entry from one look at the cache to the next.
struct SeenEntry {
  let id: StoredResponse.ID
  /// A hash of the key; `nil` if the entry has none.
  let key: Int?
  /// A hash of what changes whenever the entry is stored again.
  let version: Int
  /// The URL; `nil` if it is unknown, or the entry was not selected.
  var url: ByteString?
  var size: ByteCount?
  /// Whether the entry was selected when it was stored.
  var isSelected = false
  /// Whether the entry has been read, and not only seen.
  var isRead = false

  /// The fields that ``init(_:)`` needs, which are quickly read.
  static let projection: Projection = [.key, .stored, .file]

  init(id: StoredResponse.ID, key: Int?, version: Int) {
    (self.id, self.key, self.version) = (id, key, version)
  }

  init(_ response: borrowing StoredResponse) {
    var hasher = Hasher()
    // CFNetwork stores the time of an update with the response. Foundation writes another file.
    hasher.combine(response.stored)
    hasher.combine(response.file)
    self.init(
      id: response.id, key: response.key.map(\.hashValue), version: hasher.finalize())
  }

  /// Remembers more of the entry.
  mutating func read(_ response: borrowing StoredResponse, isSelected: Bool) {
    (isRead, self.isSelected) = (true, isSelected)
    size = response.bodySize
    url = isSelected ? response.url ?? response.key : nil
  }
}
