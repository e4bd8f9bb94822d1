/// A set of page numbers, with one bit for each page, and no memory for parts of a database that have none of them.
public struct PageSet: Sendable {
  /// The bits of consecutive pages; empty if none of them is in the set.
  private var parts: [[UInt64]]

  /// The number of pages of a part.
  private static let partLength: UInt32 = 1 << 15

  /// The highest page number that the set can contain.
  public let highest: UInt32

  /// Creates an empty set.
  public init(upTo highest: UInt32) {
    self.highest = highest
    parts = Array(repeating: [], count: Int(highest / Self.partLength) + 1)
  }

  /// Whether the set contains a page.
  public func contains(_ page: UInt32) -> Bool {
    guard page <= highest else { return false }
    let part = Int(page / Self.partLength)
    guard !parts[part].isEmpty else { return false }
    return parts[part][Int(page % Self.partLength) / 64] >> UInt64(page % 64) & 1 == 1
  }

  /// Adds a page.
  ///
  /// - Returns: `false` if the set already contained the page, or the page cannot exist.
  @discardableResult
  public mutating func insert(_ page: UInt32) -> Bool {
    guard page >= 1, page <= highest, !contains(page) else { return false }
    let part = Int(page / Self.partLength)
    if parts[part].isEmpty { parts[part] = Array(repeating: 0, count: Int(Self.partLength) / 64) }
    parts[part][Int(page % Self.partLength) / 64] |= 1 << UInt64(page % 64)
    return true
  }

  /// Adds the pages of another set that is as large.
  public mutating func formUnion(_ other: PageSet) {
    for (part, words) in other.parts.enumerated() where !words.isEmpty && part < parts.count {
      if parts[part].isEmpty {
        parts[part] = words
      } else {
        for index in words.indices { parts[part][index] |= words[index] }
      }
    }
  }

  /// Calls `body` with each page of a range, in ascending order.
  public func forEach(in range: Range<UInt32>, _ body: (UInt32) throws -> Void) rethrows {
    var page = range.lowerBound
    while page < range.upperBound, page <= highest {
      let words = parts[Int(page / Self.partLength)]
      guard !words.isEmpty else {
        page = (page / Self.partLength + 1) * Self.partLength
        continue
      }
      let word = words[Int(page % Self.partLength) / 64] >> UInt64(page % 64)
      if word & 1 == 1 { try body(page) }
      page = word > 1 ? page + 1 : (page / 64 + 1) * 64
    }
  }

  /// Calls `body` with each page, in ascending order.
  public func forEach(_ body: (UInt32) throws -> Void) rethrows {
    for (part, words) in parts.enumerated() {
      for (index, word) in words.enumerated() where word != 0 {
        let first = UInt32(part) * Self.partLength + UInt32(64 * index)
        for bit in 0..<UInt32(64) where word >> UInt64(bit) & 1 == 1 { try body(first + bit) }
      }
    }
  }

  /// Removes a page.
  public mutating func remove(_ page: UInt32) {
    guard contains(page) else { return }
    parts[Int(page / Self.partLength)][Int(page % Self.partLength) / 64] &=
      ~(1 << UInt64(page % 64))
  }
}

/// The free pages of a database.
public struct FreeList: Sendable {
  /// The pages that list other free pages. Their beginning is overwritten.
  public private(set) var trunks: PageSet

  /// The other free pages, which SQLite leaves as they are.
  public private(set) var leaves: PageSet

  /// Whether the list ended as it should.
  public private(set) var isComplete = false

  /// Reads the list.
  ///
  /// - Parameters:
  ///   - first: The first trunk page.
  ///   - pageCount: The number of pages of the database.
  /// - Throws: An error of `pages`.
  public init(
    from first: UInt32, usableSize: Int, pageCount: UInt32, reading pages: inout some PageReading
  ) throws {
    trunks = PageSet(upTo: pageCount)
    leaves = PageSet(upTo: pageCount)
    var (buffer, next): ([UInt8], UInt32) = ([], first)
    // A page that is listed twice ends the walk, so a cycle does.
    while next != 0 {
      guard trunks.insert(next), try pages.read(next, into: &buffer) else { return }
      let page = buffer.span
      guard page.count >= usableSize, usableSize >= 8 else { return }
      let count = page.number32(at: 4)
      guard count <= UInt32(usableSize / 4 - 2) else { return }
      for index in 0..<Int(count) { leaves.insert(page.number32(at: 8 + 4 * index)) }
      next = page.number32(at: 0)
    }
    isComplete = true
  }

  /// Returns where the remains of the former content begin in a trunk page.
  public static func remains(inTrunk page: Span<UInt8>, usableSize: Int) -> Range<Int> {
    guard page.count >= usableSize, usableSize >= 8 else { return 0..<0 }
    let count = page.number32(at: 4)
    // The number is one of a damaged page if it does not fit.
    guard count <= UInt32(usableSize / 4 - 2) else { return 0..<usableSize }
    return 8 + 4 * Int(count)..<usableSize
  }
}
