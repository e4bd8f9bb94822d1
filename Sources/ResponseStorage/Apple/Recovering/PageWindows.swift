import Bytes
import Files

/// Reads pages of a file, and with them those after them, if pages are read in the order of the file.
///
/// A walk along a table follows several such orders at once: the pages of its rows, and their overflow pages.
struct PageWindows {
  /// A part of the file in memory. Without bytes, it only notes where a read ended.
  private struct Window {
    var start: Int64 = -1
    var count = 0
    /// How much to read next.
    var length = shortest
    var bytes: [UInt8] = []
    /// Whether the file ends where it does.
    var isLast = false
    var end: Int64 { start + Int64(count) }
  }

  private var windows = Array(repeating: Window(), count: 4)
  private var last = 0
  private var next = 0

  /// The lengths of windows: each is twice as long as the one before it in its order.
  private static let (shortest, longest) = (1 << 13, 1 << 17)

  /// How far after the end of a window a page may be to be read in order.
  private static let reach: Int64 = 1 << 16

  /// Copies a page into `buffer`.
  ///
  /// - Returns: The number of bytes that the file has of it.
  mutating func read(
    from file: borrowing OpenFile, at offset: Int64, into buffer: inout [UInt8]
  ) throws(FileError) -> Int {
    if let count = copy(last, offset, into: &buffer) { return count }
    for index in windows.indices where index != last {
      if let count = copy(index, offset, into: &buffer) {
        last = index
        return count
      }
    }
    let follower = windows.indices.first {
      windows[$0].start >= 0 && offset >= windows[$0].end
        && offset <= windows[$0].end + Self.reach
    }
    guard let follower else {
      let count = try file.read(buffer.count, at: offset, into: &buffer)
      next = (next + 1) % windows.count
      (windows[next].start, windows[next].count) = (offset + Int64(count), 0)
      windows[next].length = Self.shortest
      return count
    }
    let length = max(windows[follower].length, buffer.count)
    if windows[follower].bytes.count < max(Self.longest, buffer.count) {
      windows[follower].bytes = Array(repeating: 0, count: max(Self.longest, buffer.count))
    }
    (windows[follower].start, windows[follower].count) = (-1, 0)
    let count = try file.read(length, at: offset, into: &windows[follower].bytes)
    (windows[follower].start, windows[follower].count) = (offset, count)
    windows[follower].isLast = count < length
    windows[follower].length = min(2 * length, Self.longest)
    last = follower
    return copy(follower, offset, into: &buffer) ?? 0
  }

  /// Copies a page from a window; `nil` if it is not there, or only its beginning and the file may go on.
  private func copy(_ index: Int, _ offset: Int64, into buffer: inout [UInt8]) -> Int? {
    guard offset >= windows[index].start, offset < windows[index].end else { return nil }
    let start = Int(offset - windows[index].start)
    let count = min(buffer.count, windows[index].count - start)
    guard count == buffer.count || windows[index].isLast else { return nil }
    buffer.replaceSubrange(0..<count, with: windows[index].bytes[start..<start + count])
    return count
  }
}
