extension BTreePage {
  /// Returns the payloads of those cells of a page that have overflow pages.
  public func overflowingPayloads(in page: Span<UInt8>) -> [Payload] {
    guard kind != .tableInterior, usableSize >= DatabaseHeader.leastUsableSize else { return [] }
    let isIndex = kind != .tableLeaf
    let largest = UInt64(Payload.largestLocalSize(isIndex: isIndex, usableSize: usableSize))
    var payloads: [Payload] = []
    for index in 0..<cellCount {
      guard let start = offset(ofCell: index, in: page),
        let (size, _) = page.variableInteger(
          at: kind == .indexInterior ? start + 4 : start, before: usableSize),
        // Nearly all cells are left here.
        size > largest,
        let payload = isIndex
          ? IndexCell(page, at: start, of: kind, usableSize: usableSize)?.payload
          : RowCell(page, at: start, usableSize: usableSize)?.payload,
        payload.firstOverflowPage != 0
      else { continue }
      payloads.append(payload)
    }
    return payloads
  }
}
