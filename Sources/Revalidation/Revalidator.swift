import Bytes
import Fetching
import ResponseStorage

/// Asks origins, and gathers what they answer.
public struct Revalidator {
  /// When which request is sent.
  public var schedule: FetchSchedule

  /// Where bodies are kept; `nil` if none are wanted.
  public var spool: BodySpool?

  /// Seconds since 1970.
  public var wallClock: () -> Int64

  /// Milliseconds of a clock that only goes on.
  public var steadyClock: () -> Int64

  /// Told how many requests have ended.
  public var progress: (Int) -> Void

  /// What is known of a request that is under way.
  private struct Pending {
    var requestTime: Int64
    var deadline: Int64
    var response: ValidationResponse?
    var bodyBytes: ByteCount = 0
  }

  /// What is known of all requests.
  private struct Round {
    let requests: [ValidationRequest]
    var schedule: FetchSchedule
    var results: [ValidationResult?]
    var pending: [UInt32: Pending] = [:]
    private var ended = 0

    /// Puts all requests that can be asked onto the schedule; the others have ended.
    init(_ requests: [ValidationRequest], _ schedule: FetchSchedule) {
      let results = requests.map { request in
        request.obstacle.map { ValidationResult(request, notAskedFor: $0) }
      }
      self.requests = requests
      self.schedule = schedule
      self.results = results
      self.schedule.add(
        requests.enumerated().lazy.filter { results[$0.offset] == nil }
          .map { ($0.offset, $0.element.host?.bytes ?? []) })
    }

    /// Ends a request.
    ///
    /// - Returns: How many have ended by now.
    mutating func end(_ number: UInt32, with result: ValidationResult) -> Int {
      pending[number] = nil
      results[Int(number)] = result
      schedule.end(Int(number))
      ended += 1
      return ended
    }
  }

  /// What a transport that is silent is given beyond what it gives an origin, in milliseconds.
  private static let grace: Int64 = 10_000

  /// The most pieces of time that a whole answer takes.
  private static let mostRounds: Int64 = 42

  /// Creates a revalidator.
  public init(
    schedule: FetchSchedule, spool: BodySpool? = nil, wallClock: @escaping () -> Int64,
    steadyClock: @escaping () -> Int64, progress: @escaping (Int) -> Void = { _ in }
  ) {
    self.schedule = schedule
    self.spool = spool
    self.wallClock = wallClock
    self.steadyClock = steadyClock
    self.progress = progress
  }

  /// Asks the origins of stored responses.
  ///
  /// Where bodies are wanted and a 304 contradicts what is stored, it asks once more, without conditions; and so
  /// where the rest of a body was to be joined to its kept beginning, and is not the rest of that.
  ///
  /// - Returns: What became of each, in the order of the requests.
  /// - Throws: What the transport throws, or the spool; an origin that fails is a result.
  public func run(
    _ requests: [ValidationRequest], over transport: any Transport
  ) throws -> [ValidationResult] {
    var results = try askOnce(requests, over: transport)
    guard let spool else { return results }
    for index in results.indices { try results[index].joinRest(in: spool) }
    let again = results.indices.filter {
      results[$0].is304ThatContradicts || results[$0].misfit != nil
    }
    let whole = again.compactMap { results[$0].request.withoutConditions() }
    guard !whole.isEmpty, whole.count == again.count else { return results }
    for (index, result) in zip(again, try askOnce(whole, over: transport)) {
      results[index] = results[index].replaced(by: result)
    }
    return results
  }

  private func askOnce(
    _ requests: [ValidationRequest], over transport: any Transport
  ) throws -> [ValidationResult] {
    var round = Round(requests, schedule)
    while !round.schedule.isDone {
      try send(&round, over: transport)
      let wait = min(round.schedule.delay(at: steadyClock()) ?? 1_000, 1_000)
      if let (number, event) = try transport.receive(milliseconds: wait) {
        try take(event, of: number, in: &round)
      } else {
        giveUp(&round, over: transport)
      }
    }
    return zip(requests, round.results).map { request, result in
      result ?? ValidationResult(request, FetchFailure(.other, "there was no answer"))
    }
  }

  /// Sends what is due.
  private func send(_ round: inout Round, over transport: any Transport) throws {
    while let index = round.schedule.begin(at: steadyClock()) {
      guard case .success(let request) = round.requests[index].request else { continue }
      let span = (Int64(request.timeoutMilliseconds) + 1) * Self.mostRounds + Self.grace
      round.pending[UInt32(index)] = Pending(
        requestTime: wallClock(), deadline: steadyClock() + span)
      try transport.send(request, as: UInt32(index))
    }
  }

  /// Takes in what came of a request; what was given up may still end, and counts no more.
  private func take(_ event: FetchEvent, of number: UInt32, in round: inout Round) throws {
    guard var pending = round.pending[number] else { return }
    // The response has one owner while it grows.
    round.pending[number] = nil
    guard let result = try take(event, &pending, round.requests[Int(number)]) else {
      round.pending[number] = pending
      return
    }
    progress(round.end(number, with: result))
  }

  /// Gives up what takes too long, as the transport does not.
  private func giveUp(_ round: inout Round, over transport: any Transport) {
    for (number, pending) in round.pending where pending.deadline < steadyClock() {
      try? transport.cancel(number)
      let failure = FetchFailure(.timeout, "it took too long")
      progress(
        round.end(number, with: ValidationResult(round.requests[Int(number)], failure)))
    }
  }

  /// Takes in what came of a request.
  ///
  /// - Returns: What became of it, if that was the end.
  private func take(
    _ event: FetchEvent, _ pending: inout Pending, _ request: ValidationRequest
  ) throws -> ValidationResult? {
    switch event {
    case .head(let head):
      guard pending.response == nil else { return Self.broken(request) }
      pending.response = ValidationResponse(
        head: head, requestTime: pending.requestTime, responseTime: wallClock())
      return nil
    case .body(let bytes):
      guard case .success(let sent) = request.request, let limit = sent.bodyLimit,
        pending.response != nil, let spool
      else { return Self.broken(request) }
      pending.bodyBytes += ByteCount(bytes.count)
      guard pending.bodyBytes <= ByteCount(limit) else { return Self.broken(request) }
      var body = pending.response?.body ?? []
      try spool.append(bytes, to: &body)
      pending.response?.body = body
      return nil
    case .end:
      guard let response = pending.response else { return Self.broken(request) }
      return ValidationResult(request, response)
    case .failure(let failure):
      return ValidationResult(request, failure, after: pending.response)
    }
  }

  private static func broken(_ request: ValidationRequest) -> ValidationResult {
    ValidationResult(request, FetchFailure(.other, "the answer was not as it had to be"))
  }
}
