import Bytes
import SQLitePages

/// Finds out which of some keys the rows of responses have.
struct KeySearch: Sendable {
  /// Digests of the keys that were found.
  private(set) var found: Set<ByteString.Hash> = []

  /// The pages that should be leaves, and are not.
  private(set) var interiorPages: [UInt32] = []

  private var wanted: Set<ByteString.Hash> = []
  private var lengths: Set<Int> = []
  private var state: PageState
  private let usableSize: Int
  private var page: [UInt8] = []
  private var overflow: [UInt8] = []

  /// How many overflow pages may still be read: hostile rows can all refer to one long chain.
  private var budget: Int

  /// Where the longest key can end in its row: SQLite writes the numbers before it.
  private static let longestKey = 1 << 20 + 256

  /// Creates a search for no keys.
  ///
  /// - Parameter budget: The most overflow pages to read.
  init(_ state: PageState, usableSize: Int, budget: Int) {
    self.state = state
    self.usableSize = usableSize
    self.budget = budget
  }

  /// Adds a key to those to look for.
  mutating func want(_ key: ByteString) {
    wanted.insert(key.digest)
    lengths.insert(key.bytes.count)
  }

  /// Searches a leaf of the table.
  mutating func search(_ number: UInt32) throws {
    guard try state.read(number, into: &page) else { return }
    try search(number, page, BTreePage(page.span, number: number, usableSize: usableSize))
  }

  /// Searches a page of the table.
  mutating func search(_ number: UInt32, _ page: [UInt8], _ tree: BTreePage?) throws {
    guard let tree, tree.kind == .tableLeaf else {
      if tree?.kind.isInterior == true { interiorPages.append(number) }
      return
    }
    for index in 0..<tree.cellCount {
      guard let start = tree.offset(ofCell: index, in: page.span),
        let cell = RowCell(page.span, at: start, usableSize: usableSize),
        let range = RecordHeader.range(
          ofValue: AppleRecordShapes.keyColumn, in: page.span, of: cell),
        // Most keys have another length if only a few are wanted.
        lengths.contains(range.count), range.upperBound <= Self.longestKey
      else { continue }
      let digest = try key(range, of: cell.payload, in: page).digest
      if wanted.contains(digest) { found.insert(digest) }
    }
  }

  /// Reads a key, some of which can be on overflow pages.
  private mutating func key(
    _ range: Range<Int>, of payload: Payload, in page: [UInt8]
  ) throws -> ByteString {
    let start = payload.local.lowerBound
    if range.upperBound <= payload.local.count {
      return ByteString(Array(page[start + range.lowerBound..<start + range.upperBound]))
    }
    var bytes = Array(page[payload.local])
    var chain = OverflowChain(of: payload, usableSize: usableSize)
    while bytes.count < range.upperBound, budget > 0, try state.read(chain.page, into: &overflow),
      let part = chain.advance(over: overflow.span)
    {
      budget -= 1
      bytes += overflow[part]
    }
    return ByteString(Array(bytes.prefix(range.upperBound).dropFirst(range.lowerBound)))
  }
}

/// Finds out which pages the database uses, and where in them rows may be left.
///
/// Nearly all pages have no remains, and these are read by several threads.
struct PresentSearch: Sendable {
  /// A part of a page in which a row may be left.
  struct Place: Hashable, Comparable, Sendable {
    var page: UInt32
    /// Where the part begins in an overflow page; 0 for the gaps of a page of a b-tree.
    var start: Int

    static func < (one: Self, other: Self) -> Bool {
      (one.page, one.start) < (other.page, other.start)
    }
  }

  /// The pages that the database uses.
  private(set) var claimed: PageSet

  /// Where rows may be left.
  private(set) var places: [Place] = []

  /// The pages that should be leaves, and are not.
  private(set) var interiorPages: [UInt32] = []

  private var state: PageState
  private let carver: CellCarver
  private var page: [UInt8] = []
  private var overflow: [UInt8] = []
  private var usableSize: Int { carver.usableSize }

  /// Creates a search in pages up to a number.
  init(_ state: PageState, _ carver: CellCarver, upTo highest: UInt32) {
    self.state = state
    self.carver = carver
    claimed = PageSet(upTo: highest)
  }

  /// Searches leaves on several threads. Returns what each has found.
  func divided(over leaves: PageSet, except visited: PageSet) throws -> [PresentSearch] {
    try leaves.divided(self) { search, number in
      if !visited.contains(number) { try search.search(number) }
    }
  }

  /// Adds what another search has found.
  mutating func add(_ other: PresentSearch) {
    claimed.formUnion(other.claimed)
    interiorPages += other.interiorPages
    places = Set(places + other.places).sorted()
  }

  private mutating func search(_ number: UInt32) throws {
    guard try state.read(number, into: &page) else { return }
    let tree = BTreePage(page.span, number: number, usableSize: usableSize)
    if let tree, tree.kind.isInterior {
      interiorPages.append(number)
    } else {
      try search(number, page, tree)
    }
  }

  /// Searches a page that the database uses.
  mutating func search(_ number: UInt32, _ page: [UInt8], _ tree: BTreePage?) throws {
    claimed.insert(number)
    guard let tree else { return }
    try claimOverflow(of: tree, page)
    let hasRemains =
      mayHaveRow(page, tree.unallocated)
      || tree.freeBlocks(in: page.span).contains { mayHaveRow(page, $0) }
    if hasRemains { places.append(Place(page: number, start: 0)) }
  }

  /// Notes the overflow pages of the cells of a page, and searches after the end of each payload.
  private mutating func claimOverflow(of tree: BTreePage, _ page: [UInt8]) throws {
    for payload in tree.overflowingPayloads(in: page.span) {
      var chain = OverflowChain(of: payload, usableSize: usableSize)
      while chain.remaining > 0, claimed.insert(chain.page),
        try state.read(chain.page, into: &overflow)
      {
        let number = chain.page
        guard let range = chain.advance(over: overflow.span) else { break }
        if chain.remaining == 0, range.upperBound < usableSize,
          mayHaveRow(overflow, range.upperBound..<usableSize)
        {
          places.append(Place(page: number, start: range.upperBound))
        }
      }
    }
  }

  /// Whether a part of a page may contain a row.
  private func mayHaveRow(_ page: [UInt8], _ region: Range<Int>) -> Bool {
    region.count >= RecoveryScan.leastRegion
      && carver.hasCell(in: page.span, region) { AppleRecordShapes.mayBeRow($0, in: page.span) }
  }
}
