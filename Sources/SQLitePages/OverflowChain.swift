/// A walk along the overflow pages of a payload.
public struct OverflowChain: Hashable, Sendable {
  /// The next page; 0 at the end of the chain.
  public private(set) var page: UInt32

  /// The number of bytes of the payload that are still to come.
  public private(set) var remaining: Int

  private let usableSize: Int

  /// Begins a walk.
  public init(of payload: Payload, usableSize: Int) {
    page = payload.firstOverflowPage
    remaining = payload.size - payload.local.count
    self.usableSize = usableSize
  }

  /// Whether the last byte was reached, and the chain ends there.
  public var isComplete: Bool { remaining == 0 && page == 0 }

  /// Takes the bytes of the current page, and continues with the next.
  ///
  /// Each call lowers ``remaining``, so that even a cyclic chain ends.
  ///
  /// - Parameter bytes: The whole page with the number ``page``.
  /// - Returns: The part of the page that belongs to the payload, or `nil` at the end of the payload.
  public mutating func advance(over bytes: Span<UInt8>) -> Range<Int>? {
    guard remaining > 0, page != 0, usableSize > 4, usableSize <= bytes.count else { return nil }
    let count = min(remaining, usableSize - 4)
    remaining -= count
    page = bytes.number32(at: 0)
    return 4..<4 + count
  }
}
