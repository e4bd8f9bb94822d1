import Bytes
import SQLitePages

// The present state of the database: which pages it uses, and the remains in those.
extension RecoveryScan {
  /// Returns the free pages of a state, as far as its list can be read.
  func freePages(at time: Int64) throws -> FreeList? {
    var state = PageState(images: images, time: time)
    var page: [UInt8] = []
    guard try state.read(1, into: &page), let header = DatabaseHeader(page.span) else { return nil }
    return try FreeList(
      from: header.firstFreePage, usableSize: usableSize, pageCount: images.highestPage,
      reading: &state)
  }

  /// Notes which pages the database uses, and reads the remains in those.
  func readPresent() throws {
    var state = PageState(images: images, time: images.now)
    var visited = PageSet(upTo: reader.claimed.highest)
    var leaves = visited
    for root in try schema() {
      try Tree(root: root, usableSize: usableSize).forEachInteriorPage(
        visited: &visited, leaves: &leaves, reading: &state, readPresent)
    }
    // In the order of the file: the tables grow at the same time, so the pages of each are all over it.
    try leaves.forEach { leaf in
      try Tree(root: leaf, usableSize: usableSize).forEachPage(visited: &visited, reading: &state) {
        try readPresent($1, $2, $3)
      }
    }
  }

  /// Notes that the database uses a page, and reads the remains in it.
  private func readPresent(_ number: UInt32, _ page: [UInt8], _ tree: BTreePage?) throws {
    reader.claimed.insert(number)
    guard let tree, let image = images.image(of: number) else { return }
    try claimOverflow(of: tree, page)
    try carve(
      page, tree.freeBlocks(in: page.span) + [tree.unallocated], number, image, .slack,
      until: image.time)
  }

  /// Returns the root pages of all tables and indexes.
  private func schema() throws -> [UInt32] {
    var result: [UInt32] = [1]
    var state = PageState(images: images, time: images.now)
    var visited = PageSet(upTo: images.highestPage)
    try Tree(root: 1, usableSize: usableSize).forEachPage(visited: &visited, reading: &state) {
      [self] _, _, page, tree in
      guard let tree, tree.kind == .tableLeaf else { return }
      for index in 0..<tree.cellCount {
        guard let start = tree.offset(ofCell: index, in: page.span),
          let cell = RowCell(page.span, at: start, usableSize: usableSize),
          let header = RecordHeader(
            page.span, at: cell.payload.local.lowerBound, before: cell.payload.local.upperBound)
        else { continue }
        let payload = Array(page[cell.payload.local])
        guard header.values.count >= 4, let root = header.integer(3, in: payload.span), root > 1,
          root <= Int64(images.filePageCount) || images.image(of: UInt32(clamping: root)) != nil
        else { continue }
        let texts = header.values.prefix(3).map { value in
          value.range.upperBound <= payload.count
            ? ByteString(Array(payload[value.range])).asciiLowercased : ""
        }
        var table: AppleRecordShapes.Table?
        if texts[0] == "table" {
          switch texts[1] {
          case ByteString(AppleLayout.responses): table = .responses
          case ByteString(AppleLayout.blobs): table = .blobs
          case ByteString(AppleLayout.bodies): table = .bodies
          default: break
          }
          if let table { roots[table] = UInt32(root) }
        }
        result.append(UInt32(root))
      }
    }
    return result
  }

  /// Notes the overflow pages of the cells of a page, and reads the remains after the end of each payload.
  private func claimOverflow(of tree: BTreePage, _ page: [UInt8]) throws {
    var buffer: [UInt8] = []
    for index in 0..<tree.cellCount {
      guard let start = tree.offset(ofCell: index, in: page.span) else { continue }
      let payload: Payload?
      switch tree.kind {
      case .tableLeaf:
        payload = RowCell(page.span, at: start, usableSize: usableSize)?.payload
      case .indexLeaf, .indexInterior:
        payload = IndexCell(page.span, at: start, of: tree.kind, usableSize: usableSize)?.payload
      case .tableInterior: continue
      }
      guard let payload, payload.firstOverflowPage != 0 else { continue }
      var chain = OverflowChain(of: payload, usableSize: usableSize)
      while chain.remaining > 0, reader.claimed.insert(chain.page),
        let image = images.image(of: chain.page), try images.read(image, into: &buffer)
      {
        let number = chain.page
        guard let range = chain.advance(over: buffer.span) else { break }
        if chain.remaining == 0, range.upperBound < usableSize {
          try carve(
            buffer, [range.upperBound..<usableSize], number, image, .slack, until: image.time)
        }
      }
    }
  }
}

extension ByteString {
  /// A digest with which keys are compared, to keep millions of them in memory.
  typealias Hash = Int

  /// A digest of the text, which differs between two runs.
  var digest: Hash {
    var hasher = Hasher()
    hasher.combine(self)
    return hasher.finalize()
  }
}
