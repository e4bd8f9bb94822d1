import SQLitePages

/// A digest of the first bytes of a row, by which nearly all rows that are not equal are told apart without decoding them.
struct RowBeginning: Hashable {
  private var count: Int
  private var digest: UInt64

  /// The bytes that are compared, from the beginning of the first value: not the first ones, which many property lists
  /// have in common.
  private static let compared = 64..<192

  /// Computes the digest of a row in a page.
  ///
  /// - Parameter header: The header of the record, of which the bytes in the page can be overwritten.
  /// - Returns: `nil` if not enough of the row is in the page.
  init?(_ header: RecordHeader, _ payload: Payload, in page: [UInt8]) {
    guard header.values.count > 1 else { return nil }
    // Of property lists, only the response is compared; all values of other rows are.
    let isList = header.values[1].type.isBlob
    count = isList ? header.values[1].range.count : header.size - header.length
    let start = payload.local.lowerBound + header.length
    let end = start + min(count, Self.compared.upperBound)
    guard end <= payload.local.upperBound, end <= page.count else { return nil }
    let first = count > Self.compared.upperBound ? start + Self.compared.lowerBound : start
    // FNV-1a.
    var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    for index in first..<end { digest = (digest ^ UInt64(page[index])) &* 0x100_0000_01B3 }
    self.digest = digest
  }
}
