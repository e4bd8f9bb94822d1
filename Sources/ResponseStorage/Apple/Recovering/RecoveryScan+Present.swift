import Bytes
import SQLitePages

// The present state of the database: which pages it uses, and the remains in those.
extension RecoveryScan {
  /// Returns the free pages of a state, as far as its list can be read.
  func freePages(at time: Int64) throws -> FreeList? {
    var state = images.state(at: time)
    var page: [UInt8] = []
    guard try state.read(1, into: &page), let header = DatabaseHeader(page.span) else { return nil }
    return try FreeList(
      from: header.firstFreePage, usableSize: usableSize, pageCount: images.highestPage,
      reading: &state)
  }

  /// Notes which pages the database uses, and reads the remains in those.
  func readPresent() throws {
    var state = images.state(at: images.now)
    var visited = PageSet(upTo: reader.claimed.highest)
    var leaves = visited
    var search = PresentSearch(state, carver, upTo: reader.claimed.highest)
    for root in try schema() {
      try Tree(root: root, usableSize: usableSize).forEachInteriorPage(
        visited: &visited, leaves: &leaves, reading: &state
      ) { try search.search($0, $1, $2) }
    }
    // In the order of the file: the tables grow at the same time, so the pages of each are all over it.
    for part in try search.divided(over: leaves, except: visited) { search.add(part) }
    // In a damaged tree, what should be a leaf can have children.
    visited.formUnion(leaves)
    for root in search.interiorPages {
      visited.remove(root)
      try Tree(root: root, usableSize: usableSize).forEachPage(visited: &visited, reading: &state) {
        try search.search($1, $2, $3)
      }
    }
    reader.claimed = search.claimed
    // Only now is it known which pages the database uses.
    for place in search.places { try carve(place) }
  }

  /// Looks for rows in a page that the database uses.
  private func carve(_ place: PresentSearch.Place) throws {
    var page: [UInt8] = []
    guard let image = images.image(of: place.page), try images.read(image, into: &page) else {
      return
    }
    var regions = [place.start..<usableSize]
    if place.start == 0 {
      guard let tree = BTreePage(page.span, number: place.page, usableSize: usableSize) else {
        return
      }
      regions = tree.freeBlocks(in: page.span) + [tree.unallocated]
    }
    try carve(page, regions, place.page, image, .slack, until: image.time)
  }

  /// Returns the root pages of all tables and indexes.
  private func schema() throws -> [UInt32] {
    var result: [UInt32] = [1]
    var state = images.state(at: images.now)
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
