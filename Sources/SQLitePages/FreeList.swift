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
