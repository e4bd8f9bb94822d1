/// What is made of responses that follow each other in a store, on whatever thread reads them.
public protocol ResponsePortion: Sendable {
  /// Whether it holds so much that it should be handed over before it takes in more.
  var isFull: Bool { get }

  /// Takes note of a response of which only little was decoded, and chooses whether to take it in.
  ///
  /// Only walks on which portions choose ask this, once of each response, in their order.
  mutating func choose(_ response: borrowing StoredResponse) -> Bool

  /// Takes in the next response.
  ///
  /// It may put any other in its place, whose memory is then used again.
  mutating func take(_ response: inout StoredResponse)
}

extension ResponsePortion {
  public mutating func choose(_ response: borrowing StoredResponse) -> Bool { true }
}

/// Which portions a scan makes.
public enum PortionOrder: Sendable {
  /// Many small ones, in the order of the responses.
  case ascending
  /// As few as there are threads, or as become full: each holds any of the responses, in their order.
  case any
}

/// Responses as they are.
struct ResponseBatch: ResponsePortion {
  // Short at first, as whoever wants only some responses should not wait for many.
  private static let lengths = 16...512

  private var responses: [StoredResponse] = []
  private var count = 0
  private var length = Self.lengths.lowerBound

  var isFull: Bool { count >= length }

  mutating func take(_ response: inout StoredResponse) {
    if count == responses.count { responses.append(.init(id: .row(0))) }
    swap(&responses[count], &response)
    count += 1
  }

  /// Calls `body` with each response, and has room for others then.
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

  /// Passes a response on without a copy of it, which the compiler makes of an element that may not change: it
  /// would count a dozen references up and down, on the thread that everything waits for.
  @inline(never)
  private static func pass(
    _ response: inout StoredResponse, to body: (borrowing StoredResponse) throws -> ScanStep
  ) rethrows -> ScanStep { try body(response) }
}
