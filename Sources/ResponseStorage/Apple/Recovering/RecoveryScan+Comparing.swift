import Bytes
import SQLitePages

// Which of the rows SQLite shows.
extension RecoveryScan {
  /// Marks the rows that SQLite shows, and adds the present rows of the same entries.
  func markPresent() throws {
    // Most of the time would be for a table in which there is nothing to look for.
    guard !isDamaged, !rows.isEmpty else { return }
    try resolveUnknownIDs()
    try noteKeys()
    var state = images.state(at: images.now)
    let ids = Set(rows.compactMap(\.id)).sorted()
    var page: [UInt8] = []
    for table in [AppleRecordShapes.Table.responses, .blobs, .bodies] {
      guard let root = roots[table] else { continue }
      let tree = Tree(root: root, usableSize: usableSize)
      var leaf: UInt32?
      for id in ids {
        guard
          let (number, cell) = try tree.row(id, after: &leaf, reading: &state, into: &page),
          let row = presentRow(cell, in: page, number)
        else { continue }
        var present = row
        guard let digest = try reader.examine(&present, in: page, isCertain: true) else { continue }
        present.isLive = true
        let identity = RowIdentity(table: present.table, id: id, digest: digest)
        if let index = indexes[identity] {
          let known = rows[index].hasKnownTime ? rows[index].from : present.from
          present.from = min(known, present.from)
          rows[index] = present
        } else {
          indexes[identity] = rows.count
          rows.append(present)
        }
      }
    }
  }

  private func presentRow(_ cell: RowCell, in page: [UInt8], _ number: UInt32) -> FoundRow? {
    guard let image = images.image(of: number), let header = RecordHeader(page.span, of: cell),
      let shape = AppleRecordShapes.all.firstIndex(where: {
        $0.shape.matches(header) && !$0.shape.isIndex
      })
    else { return nil }
    return FoundRow(
      shape: shape, id: cell.rowID, from: image.time, to: .max, image: image, page: number,
      kind: .page, payload: cell.payload)
  }

  /// Gives rows whose id is overwritten the id of an equal row, and removes those that SQLite shows.
  private func resolveUnknownIDs() throws {
    var waiting: [RowIdentity: Int] = [:]
    for (identity, index) in indexes where identity.id == nil { waiting[identity] = index }
    guard !waiting.isEmpty else { return }
    var doubles: Set<Int> = []
    for (identity, index) in indexes where identity.id != nil {
      var anonymous = identity
      anonymous.id = nil
      if let double = waiting[anonymous] {
        doubles.insert(double)
        rows[index].extend(with: rows[double])
      }
    }
    let beginnings = try beginnings(of: waiting.values.sorted())
    for (table, root) in roots where waiting.keys.contains(where: { $0.table == table }) {
      try forEachRow(of: root) { cell, number, page in
        guard let header = RecordHeader(page.span, of: cell) else { return }
        // Of most rows, the beginning says that they are not among them.
        if let beginnings, let beginning = RowBeginning(header, cell.payload, in: page),
          !beginnings.contains(beginning)
        {
          return
        }
        guard var row = presentRow(cell, in: page, number),
          let digest = try reader.examine(&row, in: page, isCertain: true),
          let double = waiting[RowIdentity(table: table, id: nil, digest: digest)]
        else { return }
        doubles.insert(double)
      }
    }
    remove(doubles)
  }

  /// Returns the beginnings of rows; `nil` if one is not known.
  private func beginnings(of indexes: [Int]) throws -> Set<RowBeginning>? {
    var result: Set<RowBeginning> = []
    var page: [UInt8] = []
    for row in indexes.lazy.map({ [rows] in rows[$0] }) {
      guard try images.read(row.image, into: &page),
        let header = row.header
          ?? RecordHeader(
            page.span, at: row.payload.local.lowerBound, before: row.payload.local.upperBound),
        let beginning = RowBeginning(header, row.payload, in: page)
      else { return nil }
      result.insert(beginning)
    }
    return result
  }

  /// Notes which keys of the rows that were found the cache has.
  private func noteKeys() throws {
    guard let root = roots[.responses] else { return }
    let keys = rows.compactMap { row in
      row.text.map { row.table == .blobs ? AppleCacheKey(of: $0).text : $0 }
    }
    // Reading ahead would read the pages of the other tables, too, which are between those of this one.
    var state = images.state(at: images.now, readsAhead: false)
    let search = KeySearch(
      for: keys, state, usableSize: usableSize, budget: 8 * images.imageCount + 10_000)
    var visited = PageSet(upTo: reader.claimed.highest)
    var leaves = visited
    var rest = search
    try Tree(root: root, usableSize: usableSize).forEachInteriorPage(
      visited: &visited, leaves: &leaves, reading: &state
    ) { number, page, tree in
      // In a damaged tree, leaves can be less deep than others, or deeper.
      if tree?.kind == .tableLeaf { try rest.search(number, page, tree) }
    }
    for part in try leaves.divided(search, { try $0.search($1) }) {
      liveKeys.formUnion(part.found)
      for root in part.interiorPages {
        visited.remove(root)
        try Tree(root: root, usableSize: usableSize)
          .forEachPage(visited: &visited, reading: &state) { try rest.search($1, $2, $3) }
      }
    }
    liveKeys.formUnion(rest.found)
  }

  /// Calls `body` with each row that SQLite shows of a table.
  private func forEachRow(
    of root: UInt32, _ body: (RowCell, UInt32, [UInt8]) throws -> Void
  ) throws {
    // Reading ahead would read the pages of the other tables, too, which are between those of this one.
    var state = images.state(at: images.now, readsAhead: false)
    var visited = PageSet(upTo: reader.claimed.highest)
    try Tree(root: root, usableSize: usableSize).forEachPage(visited: &visited, reading: &state) {
      [self] _, number, page, tree in
      guard let tree, tree.kind == .tableLeaf else { return }
      for index in 0..<tree.cellCount {
        guard let start = tree.offset(ofCell: index, in: page.span),
          let cell = RowCell(page.span, at: start, usableSize: usableSize)
        else { continue }
        try body(cell, number, page)
      }
    }
  }

  private func remove(_ doubles: Set<Int>) {
    guard !doubles.isEmpty else { return }
    // In place: there can be hundreds of thousands.
    var places = [Int](repeating: -1, count: rows.count)
    var count = 0
    for index in rows.indices where !doubles.contains(index) {
      rows.swapAt(count, index)
      places[index] = count
      count += 1
    }
    rows.removeLast(rows.count - count)
    let gone = indexes.filter { places[$0.value] < 0 }.map(\.key)
    for identity in gone { indexes[identity] = nil }
    var index = indexes.values.startIndex
    while index != indexes.values.endIndex {
      indexes.values[index] = places[indexes.values[index]]
      indexes.values.formIndex(after: &index)
    }
  }
}
