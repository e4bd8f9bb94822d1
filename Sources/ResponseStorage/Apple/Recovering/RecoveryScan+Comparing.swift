import Bytes
import SQLitePages

// Which of the rows SQLite shows.
extension RecoveryScan {
  /// Marks the rows that SQLite shows, and adds the present rows of the same entries.
  func markPresent() throws {
    // Most of the time would be for a table in which there is nothing to look for.
    guard !isDamaged, try !rows.isEmpty() else { return }
    try resolveUnknownIDs()
    try noteKeys()
    var state = images.state(at: images.now)
    var page: [UInt8] = []
    for table in [AppleRecordShapes.Table.responses, .blobs, .bodies] {
      guard let root = roots[table] else { continue }
      let tree = Tree(root: root, usableSize: usableSize)
      var leaf: UInt32?
      var last: Int64 = 0
      while let id = try rows.id(after: last) {
        last = id
        guard
          let (number, cell) = try tree.row(id, after: &leaf, reading: &state, into: &page),
          let row = presentRow(cell, in: page, number)
        else { continue }
        var present = row
        guard let digest = try reader.examine(&present, in: page, isCertain: true) else { continue }
        present.isLive = true
        let identity = RowIdentity(table: present.table, id: id, digest: digest)
        if let known = try rows.row(identity) {
          present.from = min(known.hasKnownTime ? known.from : present.from, present.from)
          try rows.replace(identity, with: present)
        } else {
          try rows.append(present, identity)
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
    // Digests, because in a cache that was cleared there is such a row for each entry.
    var waiting: [AppleRecordShapes.Table: Set<Int>] = [:]
    try rows.forEach(.nameless) { waiting[$1.table, default: []].insert($1.digest) }
    guard !waiting.isEmpty else { return }
    let beginnings = try beginningsOfNameless()
    try rows.forEachDouble { named, nameless in
      guard var row = try rows.row(named), let double = try rows.row(nameless) else { return }
      row.extend(with: double)
      try rows.replace(named, with: row)
    }
    for (table, root) in roots {
      guard let digests = waiting[table] else { continue }
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
          digests.contains(digest)
        else { return }
        try rows.remove(RowIdentity(table: table, id: nil, digest: digest))
      }
    }
    try rows.removeDoubles()
  }

  /// Returns the beginnings of the rows without an id; `nil` if one is not known.
  private func beginningsOfNameless() throws -> Set<RowBeginning>? {
    var result: Set<RowBeginning> = []
    var page: [UInt8] = []
    var isComplete = true
    try rows.forEach(.nameless) { row, _ in
      guard isComplete, try images.read(row.image, into: &page),
        let header = row.header
          ?? RecordHeader(
            page.span, at: row.payload.local.lowerBound, before: row.payload.local.upperBound),
        let beginning = RowBeginning(header, row.payload, in: page)
      else { return isComplete = false }
      result.insert(beginning)
    }
    return isComplete ? result : nil
  }

  /// Notes which keys of the rows that were found the cache has.
  private func noteKeys() throws {
    guard let root = roots[.responses] else { return }
    // Reading ahead would read the pages of the other tables, too, which are between those of this one.
    var state = images.state(at: images.now, readsAhead: false)
    var search = KeySearch(
      state, usableSize: usableSize, budget: 8 * images.imageCount + 10_000)
    try rows.forEach(.all) { row, _ in
      guard let text = row.text else { return }
      search.want(row.table == .blobs ? AppleCacheKey(of: text).text : text)
    }
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
}
