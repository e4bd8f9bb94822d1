public import Bytes

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

/// A target for responses: an existing store, or one that is to be created.
public protocol ResponseTarget {
  /// Returns what the store keeps of a response that is inserted.
  ///
  /// - Throws: ``AdmissionRefusal`` if the store cannot keep it, or ``StoreError``.
  func admit(_ response: RawResponse) throws -> AdmittedResponse

  /// Returns the response with this key that the store already has, or `nil` if there is none.
  ///
  /// - Parameter key: ``AdmittedResponse/key``.
  func standingResponse(forKey key: ByteString) throws -> StandingResponse?

  /// Returns the response with this id if it has no key, or `nil` if there is none.
  func standingResponse(withoutKey number: Int64) throws -> StandingResponse?
}

/// A response as a store would keep it.
public struct AdmittedResponse {
  /// The key in the store; `nil` if the response has none, so that no lookup finds it.
  public var key: ByteString?
  /// The response as the store would return it, except for its id.
  public var kept: RawResponse
  /// The parts that the store cannot keep, in the order of the cases.
  public var losses: [ResponseLoss]

  /// Creates an admitted response.
  public init(key: ByteString?, kept: RawResponse, losses: [ResponseLoss] = []) {
    self.key = key
    self.kept = kept
    self.losses = losses
  }
}

/// A response that a store already has for a key.
public struct StandingResponse {
  /// The response.
  public var raw: RawResponse
  /// The version that must be given to replace it.
  public var version: ResponseVersion
  /// Whether there are older responses with its key, which are ignored, and removed when it is replaced.
  public var hasOlder = false

  /// Creates a standing response.
  public init(raw: RawResponse, version: ResponseVersion) {
    self.raw = raw
    self.version = version
  }
}

/// The error that a store cannot keep a response.
public struct AdmissionRefusal: Error, Hashable, Sendable {
  /// The reason: a clause.
  public var reason: String

  /// Only WebKit keeps parts of responses besides the whole ones.
  static let part = AdmissionRefusal(
    "it contains only a range of the response, and the app would receive it as the whole response")

  /// Creates a refusal.
  public init(_ reason: String) {
    self.reason = reason
  }
}
