/// A tally that collects responses unchanged.
struct ResponseBatch: ResponseTally {
  // Start small, so that a caller that needs only some responses does not wait for many.
  private static let lengths = 16...512

  private var responses: [StoredResponse] = []
  private var count = 0
  private var length = Self.lengths.lowerBound

  var isFull: Bool { count >= length }

  mutating func insert(_ response: borrowing StoredResponse) {
    var response = copy response
    insert(exchanging: &response)
  }

  mutating func insert(exchanging response: inout StoredResponse) {
    // Responses are exchanged and never moved out, so that the strings of the last batch are the
    // spare memory of the next one.
    if count == responses.count { responses.append(.init(id: .row(0))) }
    swap(&responses[count], &response)
    count += 1
  }

  /// Calls `body` with each response, and then makes room for others.
  mutating func removeAll(
    passingTo body: (borrowing StoredResponse) throws -> ScanStep
  ) rethrows -> ScanStep {
    let count = count
    var responses = responses.mutableSpan
    for index in 0..<count {
      if try Self.pass(&responses[index], to: body) == .stop { return .stop }
    }
    self.count = 0
    length = min(length * 2, Self.lengths.upperBound)
    return .next
  }

  /// Passes on a response without the copy that the compiler makes of an immutable element, which would retain and
  /// release a dozen references on the thread for which all others wait.
  @inline(never)
  private static func pass(
    _ response: inout StoredResponse, to body: (borrowing StoredResponse) throws -> ScanStep
  ) rethrows -> ScanStep { try body(response) }
}
