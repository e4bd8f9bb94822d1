/// What is made of responses that follow each other in a store, on whatever thread reads them.
public protocol ResponseTally: Sendable {
  /// Whether it holds so much that it should be handed over before it takes in more.
  var isFull: Bool { get }

  /// Takes note of a response, and chooses whether to take it in.
  ///
  /// It is asked once of each response, in their order. Only what ``ScanRequest/choosing`` names is sure to be decoded.
  mutating func choose(_ response: borrowing StoredResponse) -> Bool

  /// Takes in a response that it has chosen.
  mutating func insert(_ response: borrowing StoredResponse)

  /// Takes in a response that it has chosen, and may put any other in its place, whose memory is then used again.
  mutating func insert(exchanging response: inout StoredResponse)
}

extension ResponseTally {
  public var isFull: Bool { false }

  public mutating func choose(_ response: borrowing StoredResponse) -> Bool { true }

  public mutating func insert(exchanging response: inout StoredResponse) { insert(response) }
}
