import SQLitePages

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
