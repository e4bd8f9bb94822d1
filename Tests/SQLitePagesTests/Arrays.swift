import SQLitePages

// A macro of the test library cannot be given a span, but an array.

extension DatabaseHeader {
  init?(_ bytes: [UInt8]) { self.init(bytes.span) }
}

extension BTreePage {
  func offset(ofCell index: Int, in page: [UInt8]) -> Int? { offset(ofCell: index, in: page.span) }
}

extension RowCell {
  init?(_ page: [UInt8], at start: Int, usableSize: Int) {
    self.init(page.span, at: start, usableSize: usableSize)
  }
}

extension RecordHeader {
  init?(_ payload: [UInt8]) { self.init(payload.span, at: 0, before: payload.count) }

  func integer(_ index: Int, in payload: [UInt8]) -> Int64? { integer(index, in: payload.span) }
}

extension WriteAheadLog {
  init?(_ bytes: [UInt8]) { self.init(bytes.span) }
}

extension RollbackJournal {
  init?(_ bytes: [UInt8], pageSize: Int) { self.init(bytes.span, pageSize: pageSize) }
}
