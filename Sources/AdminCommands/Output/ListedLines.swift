import Bytes
import Rendering
import ResponseStorage

/// Rendered entries, one per line.
struct ListedLines: ResponseTally {
  private let renderer: any LineRenderer

  /// The number of entries.
  private(set) var entries: Int64 = 0
  /// The total size of their bodies, in bytes.
  private(set) var bodyBytes: ByteCount = 0
  /// The lines.
  private(set) var text = TextBuffer()

  /// Creates an empty tally.
  init(_ renderer: any LineRenderer) {
    self.renderer = renderer
  }

  // As much as is written at once, so that memory does not grow with the list.
  var isFull: Bool { text.bytes.count >= 1 << 16 }

  mutating func insert(_ response: borrowing StoredResponse) {
    entries += 1
    bodyBytes += response.bodySize ?? 0
    renderer.render(response, into: &text)
  }

  mutating func removeAll() {
    (entries, bodyBytes) = (0, 0)
    text.removeAll(keepingCapacity: true)
  }
}
