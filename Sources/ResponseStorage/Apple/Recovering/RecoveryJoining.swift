import Bytes

/// Joins the rows of one entry again, of which there can be several versions.
struct RecoveryJoining {
  /// The rows of a version.
  struct Joined {
    var response: FoundRow?
    var blob: FoundRow?
    var body: FoundRow?
    var key: FoundRow?

    /// Whether the body existed at the same time as the property lists, so that it belongs to them.
    var isBodyCertain = false

    /// The rows that there are.
    var rows: [FoundRow] { [blob, response, key, body].compactMap { $0 } }
  }

  private let rows: [FoundRow]
  /// The ends of the times of the rows.
  private var ends: [Int64]
  private let responses: [Int]
  private let blobs: [Int]
  private let bodies: [Int]
  private let keys: [Int]
  private var used: Set<Int> = []

  /// The versions that were found.
  private(set) var entries: [Joined] = []

  init(_ rows: [FoundRow]) {
    self.rows = rows
    ends = rows.map(\.to)
    responses = rows.indices.filter { rows[$0].table == .responses }
    blobs = rows.indices.filter { rows[$0].table == .blobs }
    bodies = rows.indices.filter { rows[$0].table == .bodies }
    keys = rows.indices.filter { rows[$0].table == .keys }
    for indexes in [responses, blobs, bodies] { endEachAtNext(indexes) }
    join()
  }

  /// Ends the time of each version of a row where the next one begins.
  ///
  /// SQLite does not write a page that becomes free, so the last state of a page can seem to last longer than its rows.
  private mutating func endEachAtNext(_ indexes: [Int]) {
    let known = indexes.filter { [rows] in rows[$0].hasKnownTime }
      .sorted { [rows] in rows[$0].from < rows[$1].from }
    for (index, next) in zip(known, known.dropFirst()) where rows[next].from > rows[index].from {
      ends[index] = min(ends[index], rows[next].from)
    }
  }

  private mutating func join() {
    let order = { [rows, ends] (one: Int, other: Int) -> Bool in
      (ends[one], rows[one].from, rows[one].stored)
        > (ends[other], rows[other].from, rows[other].stored)
    }
    // Rows whose times are known come first: what belongs to them belongs to no other.
    let lists = blobs.sorted { [rows] in
      rows[$0].hasKnownTime != rows[$1].hasKnownTime ? rows[$0].hasKnownTime : order($0, $1)
    }
    for blob in lists {
      let response = best(responses, for: blob) { Self.isSame($0, $1) }
      let key = response == nil ? best(keys, for: blob) { Self.isSame($0, $1) } : nil
      let certain = body(of: blob, lists)
      let body = certain ?? likelyBody(of: blob, lists)
      entries.append(
        Joined(
          response: response.map { rows[$0] }, blob: rows[blob], body: body.map { rows[$0] },
          key: key.map { rows[$0] }, isBodyCertain: certain != nil))
      for row in [response, key, body].compactMap({ $0 }) { used.insert(row) }
    }
    // A key that no property lists belong to.
    var known = Set(lists.compactMap { rows[$0].text.map(Self.comparable) })
    for index in responses.sorted(by: order) + keys.sorted(by: order) where !used.contains(index) {
      guard let text = rows[index].text, known.insert(Self.comparable(text)).inserted else {
        continue
      }
      entries.append(
        rows[index].table == .keys
          ? Joined(key: rows[index])
          : Joined(response: rows[index]))
    }
  }

  /// Returns the body that existed at the same time as property lists, if no other one did.
  ///
  /// A page of a damaged database can be one that it no longer used, so that two versions seem to have existed at once.
  private func body(of blob: Int, _ lists: [Int]) -> Int? {
    guard rows[blob].hasKnownTime,
      !lists.contains(where: { $0 != blob && isAtOnce($0, blob) })
    else { return nil }
    let known = bodies.filter { rows[$0].hasKnownTime }
    guard let found = best(known, for: blob, { _, _ in true }), isLikely(found, of: blob),
      !known.contains(where: { $0 != found && rows[$0].isWhole && isAtOnce($0, found) })
    else { return nil }
    return found
  }

  /// Whether two versions of a row seem to have existed at the same time.
  private func isAtOnce(_ one: Int, _ other: Int) -> Bool {
    rows[one].hasKnownTime && rows[other].hasKnownTime && overlap(one, other)
  }

  /// Whether two rows can have existed at the same time.
  private func overlap(_ one: Int, _ other: Int) -> Bool {
    rows[one].from < ends[other] && rows[other].from < ends[one]
  }

  /// Whether a body that existed together with property lists belongs to them: it was written in the same transaction, or
  /// has the length that they state.
  private func isLikely(_ body: Int, of blob: Int) -> Bool {
    guard rows[body].from != rows[blob].from, let size = rows[blob].bodySize,
      let other = rows[body].bodySize
    else { return true }
    return size == other
  }

  /// Returns the body that property lists may have, if times do not show which one it is.
  ///
  /// It is the only body of the only version that was found, and has the length that the property lists state. But it can
  /// be that of another version with the same length.
  private func likelyBody(of blob: Int, _ lists: [Int]) -> Int? {
    let row = rows[blob]
    guard let size = row.bodySize, row.id != nil,
      lists.allSatisfy({ rows[$0].stored == row.stored }),
      let body = bodies.first, bodies.count == 1, overlap(blob, body),
      rows[body].bodySize.map({ $0 == size }) ?? true
    else { return nil }
    return body
  }

  /// Returns the row that existed together with another.
  ///
  /// - Parameter isSame: Whether two rows are about the same URL. Otherwise only their times can show that they belong
  ///   together: a cache that was made again begins with the id 1 again.
  private func best(
    _ candidates: [Int], for index: Int, _ isSame: (FoundRow, FoundRow) -> Bool
  ) -> Int? {
    let row = rows[index]
    var fitting = candidates.filter { candidate in
      let other = rows[candidate]
      guard overlap(index, candidate) else { return false }
      return row.hasKnownTime && other.hasKnownTime || isSame(row, other)
    }
    // The same body can be found twice, once without its overflow pages.
    if fitting.contains(where: { rows[$0].isWhole }) { fitting.removeAll { !rows[$0].isWhole } }
    if fitting.count < 2 { return fitting.first }
    let known = fitting.filter { rows[$0].hasKnownTime }
    if row.hasKnownTime, !known.isEmpty {
      // CFNetwork writes all rows of an entry in one transaction.
      return known.min { one, other in
        let distances = [one, other].map { abs(Double(rows[$0].from) - Double(row.from)) }
        return distances[0] != distances[1]
          ? distances[0] < distances[1] : ends[one] > ends[other]
      }
    }
    return fitting.max { ends[$0] < ends[$1] }
  }

  /// Whether a row with a key and one with the URL of a request are about the same URL.
  private static func isSame(_ one: FoundRow, _ other: FoundRow) -> Bool {
    guard let one = one.text, let other = other.text else { return true }
    return comparable(one) == comparable(other)
      // The keys of older schemas end with the body of the request or a partition.
      || one.bytes.starts(with: other.bytes) || other.bytes.starts(with: one.bytes)
  }

  /// A URL or key in the form in which both are the same.
  static func comparable(_ text: ByteString) -> ByteString {
    var key = AppleCacheKey(of: text).text
    if key.bytes.last == UInt8(ascii: "]"), let start = key.bytes.lastIndex(of: UInt8(ascii: "[")),
      start > 0
    {
      key.bytes.removeSubrange(start...)
    }
    return key
  }
}
