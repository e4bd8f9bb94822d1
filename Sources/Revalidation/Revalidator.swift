import Bytes
import Fetching
import ResponseStorage

/// Sends validation requests to origin servers, and collects the responses.
public struct Revalidator {
  /// The schedule of requests.
  public var schedule: FetchSchedule

  /// The spool for bodies; `nil` if no bodies are wanted.
  public var spool: BodySpool?

  /// Seconds since 1970.
  public var wallClock: () -> Int64

  /// A monotonic clock, in milliseconds.
  public var steadyClock: () -> Int64

  /// Called with the number of finished requests.
  public var progress: (Int) -> Void

  /// The state of a running request.
  private struct Pending {
    var requestTime: Int64
    var deadline: Int64
    var response: ValidationResponse?
    var bodyBytes: ByteCount = 0
  }

  /// The state of all requests.
  private struct Round {
    let requests: [ValidationRequest]
    var schedule: FetchSchedule
    var results: [ValidationResult?]
    var pending: [UInt32: Pending] = [:]
    private var ended = 0

    /// Schedules all requests that can be sent; the others are finished.
    init(_ requests: [ValidationRequest], _ schedule: FetchSchedule) {
      let results = requests.map { request in
        request.skipReason.map { ValidationResult(request, notAskedFor: $0) }
      }
      self.requests = requests
      self.schedule = schedule
      self.results = results
      self.schedule.add(
        requests.enumerated().lazy.filter { results[$0.offset] == nil }
          .map { ($0.offset, $0.element.host?.bytes ?? []) })
    }

    /// Finishes a request.
    ///
    /// - Returns: The number of finished requests.
    mutating func end(_ number: UInt32, with result: ValidationResult) -> Int {
      pending[number] = nil
      results[Int(number)] = result
      schedule.end(Int(number))
      ended += 1
      return ended
    }
  }

  /// The time that a silent transport gets beyond the time limit for an origin server, in milliseconds.
  private static let grace: Int64 = 10_000

  // Two more, so that the fetch program, which knows the reason, is the one that reports the
  // failure. This limit only holds if that program hangs.
  /// The maximum number of timeouts that a whole response can take. The fetch program fails a request after 40.
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

  /// Validates stored responses with their origin servers.
  ///
  /// If bodies are wanted, it sends a second request without conditions in two cases: a 304 contradicts the stored
  /// response, or a range response cannot be joined to the stored beginning.
  ///
  /// - Returns: The results, in the order of the requests.
  /// - Throws: The error that the transport or the spool throws; a failing origin server is a result.
  public func run(
    _ requests: [ValidationRequest], over transport: any Transport
  ) throws -> [ValidationResult] {
    var results = try askOnce(requests, over: transport)
    // Without bodies there is nothing to join or to replace.
    guard let spool else { return results }
    for index in results.indices { try results[index].joinRest(in: spool) }
    let again = results.indices.filter {
      results[$0].is304ThatContradicts || results[$0].misfit != nil
    }
    let whole = again.compactMap { results[$0].request.withoutConditions() }
    // One second request and no third: a broken server would otherwise be asked forever.
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
      // Wake up at least once a second, to check the deadlines.
      let wait = min(round.schedule.delay(at: steadyClock()) ?? 1_000, 1_000)
      if let (number, event) = try transport.receive(milliseconds: wait) {
        try handle(event, of: number, in: &round)
      } else {
        giveUp(&round, over: transport)
      }
    }
    return zip(requests, round.results).map { request, result in
      result ?? ValidationResult(request, FetchFailure(.other, "no response"))
    }
  }

  /// Sends the requests that are due.
  private func send(_ round: inout Round, over transport: any Transport) throws {
    while let index = round.schedule.begin(at: steadyClock()) {
      guard case .success(let request) = round.requests[index].request else { continue }
      let span = (Int64(request.timeoutMilliseconds) + 1) * Self.mostRounds + Self.grace
      round.pending[UInt32(index)] = Pending(
        requestTime: wallClock(), deadline: steadyClock() + span)
      try transport.send(request, as: UInt32(index))
    }
  }

  /// Handles an event of a request; events of abandoned requests are ignored.
  private func handle(_ event: FetchEvent, of number: UInt32, in round: inout Round) throws {
    guard var pending = round.pending[number] else { return }
    // Remove the response from the dictionary while it grows: with a second owner each append would copy it.
    round.pending[number] = nil
    guard let result = try handle(event, &pending, round.requests[Int(number)]) else {
      round.pending[number] = pending
      return
    }
    progress(round.end(number, with: result))
  }

  /// Abandons requests over their deadline, because the transport failed to.
  private func giveUp(_ round: inout Round, over transport: any Transport) {
    for (number, pending) in round.pending where pending.deadline < steadyClock() {
      // It is given up in any case, and a failure to say so must not end the run for all other
      // entries.
      try? transport.cancel(number)
      let failure = FetchFailure(.timeout, "the request timed out")
      progress(
        round.end(number, with: ValidationResult(round.requests[Int(number)], failure)))
    }
  }

  /// Handles an event of a request.
  ///
  /// - Returns: The result, if the event was the last.
  private func handle(
    _ event: FetchEvent, _ pending: inout Pending, _ request: ValidationRequest
  ) throws -> ValidationResult? {
    switch event {
    case .head(let head):
      // A second head would change the meaning of the body that has already arrived.
      guard pending.response == nil else { return Self.broken(request) }
      pending.response = ValidationResponse(
        head: head, requestTime: pending.requestTime, responseTime: wallClock())
      return nil
    case .body(let bytes):
      guard case .success(let sent) = request.request, let limit = sent.bodyLimit,
        pending.response != nil, let spool
      else { return Self.broken(request) }
      pending.bodyBytes += ByteCount(bytes.count)
      // The transport enforces the limit too, but it is not trusted.
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
    ValidationResult(
      request, FetchFailure(.other, "the response violated the protocol of urlcache-admin-fetch"))
  }
}
