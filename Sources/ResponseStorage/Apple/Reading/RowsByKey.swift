import Bytes

/// Rows of the response table, to be deleted in an order that writes few pages more than once, as SQLite caches few.
///
/// That is the order of their keys: the table has two indexes on keys, and neighbors in an index are far apart in the
/// table. Of 1,000,000 rows, deleting 10,000, 100,000 or 400,000 in the order of ids takes 3% to 50% longer.
struct RowsByKey {
  private struct Row {
    /// The first bytes of the key after the common prefix, as big-endian numbers.
    let (first, second): (UInt64, UInt64)
    let number: Int64
  }

  private var rows: [Row] = []
  /// The length of the common prefix of all keys.
  private let common: Int

  /// Creates an empty list.
  ///
  /// - Parameter responses: The responses whose rows will be appended.
  init(of responses: some Collection<ResponseVersion>) {
    let first = responses.first?.key?.bytes ?? []
    var common = first.count
    // Keys of one cache mostly begin with the same `https://host/`, which would fill the 16 bytes
    // that are compared.
    for response in responses {
      guard common > 0 else { break }
      let key = response.key?.bytes ?? []
      common = key.span.lengthOfCommonBeginning(first.span, atMost: common)
    }
    self.common = common
    rows.reserveCapacity(responses.count)
  }

  mutating func append(_ number: Int64, _ key: ByteString?) {
    let key = key?.bytes ?? []
    let rest = key.span.extracting(droppingFirst: common)
    // Big-endian words compare like the bytes of the keys.
    rows.append(
      Row(
        first: rest.word(paddedAt: 0).byteSwapped,
        second: rest.word(paddedAt: 8).byteSwapped, number: number))
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
  /// Returns the length of the common prefix of two spans, up to a limit.
  fileprivate func lengthOfCommonBeginning(_ other: Span<UInt8>, atMost limit: Int) -> Int {
    let end = Swift.min(count, other.count, limit)
    var length = 0
    while length &+ 8 <= end, word(at: length) == other.word(at: length) { length &+= 8 }
    while length < end, self[length] == other[length] { length &+= 1 }
    return length
  }
}
