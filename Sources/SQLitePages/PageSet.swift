/// A set of page numbers, with one bit for each page.
public struct PageSet: Sendable {
  private var words: [UInt64]

  /// The highest page number that the set can contain.
  public let highest: UInt32

  /// Creates an empty set.
  public init(upTo highest: UInt32) {
    self.highest = highest
    words = Array(repeating: 0, count: Int(highest) / 64 + 1)
  }

  /// Whether the set contains a page.
  public func contains(_ page: UInt32) -> Bool {
    page <= highest && words[Int(page) / 64] >> UInt64(page % 64) & 1 == 1
  }

  /// Adds a page.
  ///
  /// - Returns: `false` if the set already contained the page, or the page cannot exist.
  @discardableResult
  public mutating func insert(_ page: UInt32) -> Bool {
    guard page >= 1, page <= highest, !contains(page) else { return false }
    words[Int(page) / 64] |= 1 << UInt64(page % 64)
    return true
  }

  /// Removes a page.
  public mutating func remove(_ page: UInt32) {
    if page <= highest { words[Int(page) / 64] &= ~(1 << UInt64(page % 64)) }
  }
}
