import Bytes

/// Rows of the response table, to be deleted in an order that writes few pages more than once, as SQLite caches few.
///
/// That is the order of their keys: the table has two indexes on keys, and neighbors in an index are far apart in the
/// table. Of 1,000,000 rows, deleting 10,000, 100,000 or 400,000 in the order of ids takes 3% to 50% longer.
struct RowsByKey {
  private struct Row {
    /// The first bytes of the key after the common beginning, as big-endian numbers.
    var (first, second): (UInt64, UInt64)
    let number: Int64
  }

  private var rows: [Row] = []
  /// The beginning of all keys; `nil` without any.
  private var common: ArraySlice<UInt8>?

  mutating func append(_ number: Int64, _ key: ByteString?) {
    let key = key?.bytes ?? []
    // Keys of one cache mostly begin with the same `https://host/`, which would fill the 16 bytes
    // that are compared.
    let length = common.map { key.span.lengthOfCommonBeginning($0.span) } ?? key.count
    shortenCommonBeginning(to: length)
    common = common ?? key[...]
    let rest = key.span.extracting(droppingFirst: length)
    // Big-endian words compare like the bytes of the keys.
    rows.append(
      Row(
        first: rest.word(paddedAt: 0).byteSwapped,
        second: rest.word(paddedAt: 8).byteSwapped, number: number))
  }

  /// Inserts what the keys do not all have in common any more before the bytes of each.
  private mutating func shortenCommonBeginning(to length: Int) {
    guard let common, length < common.count else { return }
    let inserted = Array(common[length...].prefix(16))
    for index in rows.indices {
      let bytes = [rows[index].first, rows[index].second].flatMap { word in
        (1...8).map { UInt8(truncatingIfNeeded: word >> UInt64(64 - 8 * $0)) }
      }
      let all = inserted + bytes
      rows[index].first = all.span.word(at: 0).byteSwapped
      rows[index].second = all.span.word(at: 8).byteSwapped
    }
    self.common = common[..<length]
  }

  /// Returns the ids roughly in the order of their keys; comparing more bytes would cost more than it saves.
  consuming func inOrderOfKeys() -> [Int64] {
    rows.sort {
      ($0.first, $0.second, $0.number) < ($1.first, $1.second, $1.number)
    }
    return rows.map(\.number)
  }
}

extension Span<UInt8> {
  /// Returns the length of the common beginning of two spans.
  fileprivate func lengthOfCommonBeginning(_ other: Span<UInt8>) -> Int {
    let end = Swift.min(count, other.count)
    var length = 0
    while length &+ 8 <= end, word(at: length) == other.word(at: length) { length &+= 8 }
    while length < end, self[length] == other[length] { length &+= 1 }
    return length
  }
}
