/// A reduction of consecutive responses of a store, on any thread that reads them.
public protocol ResponseTally: Sendable {
  /// Whether the tally must be passed on before it can take more responses.
  var isFull: Bool { get }

  /// Chooses whether to insert a response, and may count it.
  ///
  /// Called once for each response, in order. Only the parts in ``ScanRequest/choosing`` are sure to be decoded.
  mutating func choose(_ response: borrowing StoredResponse) -> Bool

  /// Inserts a chosen response.
  mutating func insert(_ response: borrowing StoredResponse)

  /// Inserts a chosen response, and may replace it by another one whose memory is then reused.
  mutating func insert(exchanging response: inout StoredResponse)
}

extension ResponseTally {
  public var isFull: Bool { false }

  public mutating func choose(_ response: borrowing StoredResponse) -> Bool { true }

  public mutating func insert(exchanging response: inout StoredResponse) { insert(response) }
}
