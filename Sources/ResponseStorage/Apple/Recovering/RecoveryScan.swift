import Bytes
import SQLitePages

/// Finds the rows of a cache in all pages of its database, in all their states.
final class RecoveryScan {
  let images: PageImages
  let reader: RowReader

  /// Whether to take nothing for present, as the database is damaged.
  let isDamaged: Bool

  /// The rows that were found.
  let rows: FoundRows

  /// The root pages of the tables.
  var roots: [AppleRecordShapes.Table: UInt32] = [:]

  /// Hashes of the keys that the cache has now, of those that rows were found of.
  var liveKeys: Set<ByteString.Hash> = []

  let carver: CellCarver
  /// The pages that are free now.
  var free: FreeList?
  /// The pages that were free before the transactions in the log.
  private var freeBelowLog: FreeList?
  var usableSize: Int { images.header.usableSize }

  /// The states of pages that look like no page of a b-tree.
  private var unstructured: ImageSet

  init(_ images: PageImages, into rows: FoundRows, isDamaged: Bool) {
    self.images = images
    self.rows = rows
    self.isDamaged = isDamaged
    reader = RowReader(images)
    unstructured = ImageSet(of: images)
    carver = CellCarver(AppleRecordShapes.carved, usableSize: images.header.usableSize)
  }

  /// Reads all pages.
  func run() throws {
    free = try freePages(at: images.now)
    if images.now > 0 { freeBelowLog = try freePages(at: 0) }
    if !isDamaged { try readPresent() }
    var later = PageSet(upTo: images.filePageCount)
    try images.forEachPage { try readStates(of: $0, &later) }
    // Pages without a structure come last: by now it is known which of them are overflow pages of rows, whose bytes
    // are those of a body.
    try later.forEach { try carveUnstructured($0) }
    for number in images.pagesAfterEnd { try carveUnstructured(number) }
  }

  /// Looks for rows in the states of a page that look like no page of a b-tree.
  private func carveUnstructured(_ number: UInt32) throws {
    var page: [UInt8] = []
    for image in images.images(of: number)
    where unstructured.contains(image) && !reader.visited.contains(image) {
      guard try images.read(image, into: &page) else { continue }
      let isPresent = image == images.image(of: number)
      try carve(
        page, [0..<usableSize], number, image, kind(of: number, image, isPresent),
        until: image.time)
    }
  }

  // MARK: Other states

  private func readStates(of number: UInt32, _ later: inout PageSet) throws {
    // Nearly all pages have no other state.
    if !isDamaged, reader.claimed.contains(number), images.changed[number] == nil { return }
    let states = images.images(of: number)
    let present = images.image(of: number)
    var page: [UInt8] = []
    for (index, image) in states.enumerated() {
      let isPresent = image == present
      if isPresent, !isDamaged {
        if reader.claimed.contains(number) || images.header.isPointerMap(number)
          || number == images.header.lockPage
        {
          continue
        }
      }
      guard try images.read(image, into: &page) else { continue }
      let kind = kind(of: number, image, isPresent)
      if isPresent, !isDamaged, free?.trunks.contains(number) == true {
        let region = FreeList.remains(inTrunk: page.span, usableSize: usableSize)
        try carve(page, [region], number, image, kind, until: image.time)
        continue
      }
      guard let tree = BTreePage(page.span, number: number, usableSize: usableSize) else {
        later.insert(number)
        unstructured.insert(image)
        continue
      }
      // The rows of a free page were removed at some time before.
      let isKnown =
        isPresent
        ? isDamaged && !isFree(number, free)
        : image.time != 0 || image.file != .database || !isFree(number, freeBelowLog)
      let next = index + 1 < states.count ? states[index + 1].time : Int64.max
      let end = min(next, PageImages.end(ofGenerationOf: image.time))
      try readRows(
        of: tree, page, number, image, kind,
        (isKnown ? image.time : FoundRow.unknown, isKnown ? end : max(image.time, 1)))
    }
  }

  private func kind(
    of number: UInt32, _ image: PageImages.Image, _ isPresent: Bool
  ) -> RecoveredPlace.Kind {
    if !isPresent { return .earlierPage }
    if isFree(number, free) { return .freePage }
    return isDamaged ? .page : .lostPage
  }

  private func isFree(_ number: UInt32, _ free: FreeList?) -> Bool {
    free.map { $0.trunks.contains(number) || $0.leaves.contains(number) } ?? false
  }

  /// Reads the rows of a page, and the remains between them.
  private func readRows(
    of tree: BTreePage, _ page: [UInt8], _ number: UInt32, _ image: PageImages.Image,
    _ kind: RecoveredPlace.Kind, _ time: (from: Int64, to: Int64)
  ) throws {
    var used: [Range<Int>] = []
    if tree.kind == .tableLeaf {
      var bytesLeft = Self.mostReadings * usableSize
      for index in 0..<tree.cellCount {
        guard bytesLeft >= 0, let start = tree.offset(ofCell: index, in: page.span),
          let cell = RowCell(page.span, at: start, usableSize: usableSize),
          let header = RecordHeader(
            page.span, at: cell.payload.local.lowerBound, before: cell.payload.local.upperBound),
          let shape = shape(of: header, cell.payload)
        else { continue }
        bytesLeft -= cell.payload.local.count
        var row = FoundRow(
          shape: shape, id: cell.rowID, from: time.from, to: time.to, image: image, page: number,
          kind: kind, payload: cell.payload)
        if try insert(&row, in: page, isCertain: true) { used.append(start..<cell.payload.end) }
      }
      used.sort { $0.lowerBound < $1.lowerBound }
    }
    var rest: [Range<Int>] = []
    var start = tree.unallocated.lowerBound
    for range in used {
      if range.lowerBound > start { rest.append(start..<range.lowerBound) }
      start = max(start, range.upperBound)
    }
    if start < usableSize { rest.append(start..<usableSize) }
    try carve(page, rest, number, image, kind == .page ? .slack : kind, until: image.time)
  }

  /// Returns the shape of a row.
  private func shape(of header: RecordHeader, _ payload: Payload) -> Int? {
    if header.size == payload.size,
      let index = AppleRecordShapes.all.firstIndex(where: {
        $0.shape.matches(header) && !$0.shape.isIndex
      })
    {
      return index
    }
    return isDamaged ? AppleRecordShapes.lists(damagedAfterResponse: header) : nil
  }

  /// How often each byte of a page may be read as part of a row, on average: hostile rows can all end in the same bytes.
  private static let mostReadings = 64

  /// The length of the smallest part of a page that is searched.
  static let leastRegion = 8

  /// Looks for rows in parts of a page.
  func carve(
    _ page: [UInt8], _ regions: [Range<Int>], _ number: UInt32, _ image: PageImages.Image,
    _ kind: RecoveredPlace.Kind, until time: Int64
  ) throws {
    var bytesLeft = Self.mostReadings * usableSize
    for region in regions where region.count >= Self.leastRegion {
      try carver.forEachCell(in: page.span, region) { cell in
        let table = AppleRecordShapes.all[cell.shape].table
        guard AppleRecordShapes.mayBeRow(cell, in: page.span) else { return nil }
        bytesLeft -= cell.payload.local.count
        guard bytesLeft >= 0 else { return cell.payload.size }
        let isHeaderCut =
          RecordHeader(
            page.span, at: cell.payload.local.lowerBound, before: cell.payload.local.upperBound)
          != cell.header
        var row = FoundRow(
          shape: cell.shape, id: cell.rowID, from: FoundRow.unknown, to: max(time, 1), image: image,
          page: number, kind: kind, payload: cell.payload,
          header: isHeaderCut ? cell.header : nil)
        guard try insert(&row, in: page, isCertain: false) else { return nil }
        // Nothing shows whether newer rows have taken the place of a part of a body.
        if table == .bodies { return cell.header.length }
        // A newer row can begin in the middle of what follows the response.
        return row.isWhole || row.table != .blobs
          ? row.payload.size : cell.header.values[1].range.upperBound
      }
    }
  }

  /// Adds a row unless it is there already.
  ///
  /// - Returns: Whether it is a row of a cache.
  private func insert(_ row: inout FoundRow, in page: [UInt8], isCertain: Bool) throws -> Bool {
    guard let digest = try reader.examine(&row, in: page, isCertain: isCertain) else {
      return false
    }
    let identity = RowIdentity(table: row.table, id: row.id, digest: digest)
    if var known = try rows.row(identity) {
      known.extend(with: row)
      try rows.replace(identity, with: known)
      return true
    }
    try reader.visit(row)
    try rows.append(row, identity)
    return true
  }
}

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
