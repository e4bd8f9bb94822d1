import Bytes

/// Rows of a table that is to be changed in an order in which few pages are changed more than once, as SQLite keeps
/// few of them.
///
/// Rows that follow each other are on few pages of the table, but nearly each is on another page of the index over
/// keys: they should go in the order of their keys. Rows from all over the table should go in their own order.
struct RowsByKey {
  private struct Row {
    /// The first bytes of the key that may differ, as numbers in their order.
    let (first, second): (UInt64, UInt64)
    let number: Int64
  }

  private var rows: [Row] = []
  /// How many bytes all keys begin with.
  private let common: Int

  /// Starts without rows.
  ///
  /// - Parameter responses: Those whose rows will be appended.
  init(of responses: some Collection<ResponseVersion>) {
    let first = responses.first?.key?.bytes ?? []
    var common = first.count
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
    rows.append(
      Row(
        first: rest.word(paddedAt: 0).byteSwapped,
        second: rest.word(paddedAt: 8).byteSwapped, number: number))
  }

  /// The numbers of the rows about in the order of their keys: further bytes would cost more than they save.
  consuming func inOrderOfKeys() -> [Int64] {
    rows.sort {
      ($0.first, $0.second, $0.number) < ($1.first, $1.second, $1.number)
    }
    return rows.map(\.number)
  }

  /// Whether at least half of the rows are there between the first and the last, which were appended in their order.
  var followEachOther: Bool {
    guard let first = rows.first?.number, let last = rows.last?.number else { return false }
    let (distance, overflow) = last.subtractingReportingOverflow(first)
    return !overflow && distance / 2 < rows.count
  }
}

extension Span<UInt8> {
  /// How many bytes two spans begin with alike, up to a limit.
  fileprivate func lengthOfCommonBeginning(_ other: Span<UInt8>, atMost limit: Int) -> Int {
    let end = Swift.min(count, other.count, limit)
    var length = 0
    while length &+ 8 <= end, word(at: length) == other.word(at: length) { length &+= 8 }
    while length < end, self[length] == other[length] { length &+= 1 }
    return length
  }
}
