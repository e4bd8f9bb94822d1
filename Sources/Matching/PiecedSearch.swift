import Bytes

/// A search for a sequence of bytes in a text that arrives in pieces.
public struct PiecedSearch: Sendable {
  /// What is searched.
  public let search: LiteralSearch
  /// The last bytes of the pieces, in which a match can begin.
  private var end: [UInt8] = []

  /// Whether the bytes were found.
  public private(set) var isFound = false

  /// Creates a search.
  public init(_ search: LiteralSearch) { self.search = search }

  /// Searches the next piece.
  public mutating func append(_ piece: ArraySlice<UInt8>) {
    if isFound { return }
    let most = search.text.bytes.count - 1
    end += piece.prefix(most)
    isFound =
      search.firstIndex(in: end.span) != nil || search.firstIndex(in: piece.span) != nil
    if piece.count >= most { end = Array(piece.suffix(most)) } else { end = end.suffix(most) }
  }
}
