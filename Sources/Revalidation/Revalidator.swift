import Bytes
public import Fetching
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

  /// Called after each request that was sent.
  public var progress: () -> Void

  /// A request that has not finished.
  private struct Waiting {
    /// The number of the request for the caller.
    let number: Int64
    var request: ValidationRequest
    let host: [UInt8]
    /// The result of the first request, if this is the second one.
    var first: ValidationResult?
  }

  /// The state of a running request.
  private struct Pending {
    var requestTime: Int64
    var deadline: Int64
    var response: ValidationResponse?
    var bodyBytes: ByteCount = 0
  }

  /// The state of a run. Requests are known to the transport and to the schedule by the last 32 bits of their numbers.
  private struct Round {
    var schedule: FetchSchedule
    var waiting: [UInt32: Waiting] = [:]
    var pending: [UInt32: Pending] = [:]
    /// Hosts of which only some requests were read, with the number from which on the others are.
    var restOfHosts: [[UInt8]: Int64] = [:]

    init(_ schedule: FetchSchedule) { self.schedule = schedule }

    /// Whether to read a request when its turn has come. If not, it is read when the host has fewer.
    mutating func wants(_ host: [UInt8], _ number: Int64) -> Bool {
      if restOfHosts[host] != nil { return false }
      guard schedule.count(of: host) >= Revalidator.mostOfHost else { return true }
      restOfHosts[host] = number
      return false
    }

    /// Schedules a request.
    mutating func add(_ waiting: Waiting) {
      let number = UInt32(truncatingIfNeeded: waiting.number)
      self.waiting[number] = waiting
      schedule.add([(Int(number), waiting.host)])
    }

    /// Removes a request that has finished.
    mutating func remove(_ number: UInt32) -> Waiting? {
      pending[number] = nil
      schedule.end(Int(number))
      return waiting.removeValue(forKey: number)
    }
  }

  /// The number of requests that are in memory.
  private static let mostWaiting = 1_024

  /// The number of requests to a host that are in memory, so that one that answers slowly leaves room for others.
  private static let mostOfHost = 64

  /// The time that a silent transport gets beyond the time limit for an origin server, in milliseconds.
  private static let grace: Int64 = 10_000

  // Two more, so that the fetch program, which knows the reason, is the one that reports the
  // failure. This limit only holds if that program hangs.
  /// The maximum number of timeouts that a whole response can take. The fetch program fails a request after 40.
  private static let mostRounds: Int64 = 42

  /// Creates a revalidator.
  public init(
    schedule: FetchSchedule, spool: BodySpool? = nil, wallClock: @escaping () -> Int64,
    steadyClock: @escaping () -> Int64, progress: @escaping () -> Void = {}
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
  /// - Parameter body: Called with each result and the number of its request, in the order in which they finish.
  /// - Throws: The error that the transport, the spool or `body` throws; a failing origin server is a result.
  public func run(
    _ requests: ValidationRequests, over transport: any Transport,
    _ body: (Int64, ValidationResult) throws -> Void
  ) throws {
    var reader = try requests.makeReader()
    var round = Round(schedule)
    while true {
      try fill(&round, from: &reader, body)
      if round.schedule.isDone {
        if reader.isAtEnd { return }
        continue
      }
      try send(&round, over: transport)
      // Wake up at least once a second, to check the deadlines.
      let wait = min(round.schedule.delay(at: steadyClock()) ?? 1_000, 1_000)
      if let (number, event) = try transport.receive(milliseconds: wait) {
        try handle(event, of: number, in: &round, from: &reader, body)
      } else {
        try giveUp(&round, over: transport, from: &reader, body)
      }
    }
  }

  /// Schedules the next requests; those that are not sent have finished.
  private func fill(
    _ round: inout Round, from reader: inout ValidationRequests.Reader,
    _ body: (Int64, ValidationResult) throws -> Void
  ) throws {
    // Some at a time, as there may be millions that are not wanted yet, and responses have arrived.
    for _ in 0..<Self.mostWaiting where round.waiting.count < Self.mostWaiting {
      if let (number, request) = try reader.next(if: { round.wants($0, $1) }) {
        try add(request, number, to: &round, body)
      } else if reader.isAtEnd {
        return
      }
    }
  }

  /// Schedules the next requests to a host.
  private func fillRest(
    of host: [UInt8], in round: inout Round, from reader: inout ValidationRequests.Reader,
    _ body: (Int64, ValidationResult) throws -> Void
  ) throws {
    while let first = round.restOfHosts[host], first != .max,
      round.schedule.count(of: host) < Self.mostOfHost
    {
      let next = try reader.next(of: host, from: first)
      round.restOfHosts[host] = next.map { $0.number + 1 } ?? .max
      if let (number, request) = next { try add(request, number, to: &round, body) }
    }
  }

  private func add(
    _ request: ValidationRequest, _ number: Int64, to round: inout Round,
    _ body: (Int64, ValidationResult) throws -> Void
  ) throws {
    if let skipReason = request.skipReason {
      try body(number, ValidationResult(request, notAskedFor: skipReason))
    } else {
      round.add(Waiting(number: number, request: request, host: request.host?.bytes ?? []))
    }
  }

  /// Sends the requests that are due.
  private func send(_ round: inout Round, over transport: any Transport) throws {
    while let index = round.schedule.begin(at: steadyClock()) {
      let number = UInt32(index)
      guard case .success(let request)? = round.waiting[number]?.request.request else { continue }
      let span = (Int64(request.timeoutMilliseconds) + 1) * Self.mostRounds + Self.grace
      round.pending[number] = Pending(requestTime: wallClock(), deadline: steadyClock() + span)
      try transport.send(request, as: number)
    }
  }

  /// Handles an event of a request; events of abandoned requests are ignored.
  private func handle(
    _ event: FetchEvent, of number: UInt32, in round: inout Round,
    from reader: inout ValidationRequests.Reader, _ body: (Int64, ValidationResult) throws -> Void
  ) throws {
    guard var pending = round.pending[number], let request = round.waiting[number]?.request else {
      return
    }
    // Remove the response from the dictionary while it grows: with a second owner each append would copy it.
    round.pending[number] = nil
    guard let result = try handle(event, &pending, request) else {
      round.pending[number] = pending
      return
    }
    try end(number, with: result, in: &round, from: &reader, body)
  }

  /// Abandons requests over their deadline, because the transport failed to.
  private func giveUp(
    _ round: inout Round, over transport: any Transport,
    from reader: inout ValidationRequests.Reader, _ body: (Int64, ValidationResult) throws -> Void
  ) throws {
    for (number, pending) in round.pending where pending.deadline < steadyClock() {
      // It is given up in any case, and a failure to say so must not end the run for all other
      // entries.
      try? transport.cancel(number)
      guard let request = round.waiting[number]?.request else { continue }
      let failure = FetchFailure(.timeout, "the request timed out")
      try end(
        number, with: ValidationResult(request, failure), in: &round, from: &reader, body)
    }
  }

  /// Finishes a request, or sends a second one without conditions.
  private func end(
    _ number: UInt32, with result: ValidationResult, in round: inout Round,
    from reader: inout ValidationRequests.Reader, _ body: (Int64, ValidationResult) throws -> Void
  ) throws {
    guard var waiting = round.remove(number) else { return }
    var result = result
    // Without bodies there is nothing to join or to replace.
    if let spool, waiting.first == nil {
      try result.joinRest(in: spool)
      // One second request and no third: a broken server would otherwise be asked forever.
      if result.is304ThatContradicts || result.misfit != nil,
        let whole = waiting.request.withoutConditions()
      {
        (waiting.request, waiting.first) = (whole, result)
        return round.add(waiting)
      }
    }
    progress()
    try body(waiting.number, waiting.first?.replaced(by: result) ?? result)
    try fillRest(of: waiting.host, in: &round, from: &reader, body)
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
    case .restart:
      (pending.response, pending.bodyBytes) = (nil, 0)
      return nil
    }
  }

  private static func broken(_ request: ValidationRequest) -> ValidationResult {
    ValidationResult(
      request, FetchFailure(.other, "the response violated the protocol of urlcache-admin-fetch"))
  }
}

// A protocol, so that the module that decides about caches links no networking, and tests need no
// server.
/// A type that sends requests to origin servers.
public protocol Transport {
  /// Starts a request, identified by its number.
  func send(_ request: FetchRequest, as number: UInt32) throws

  /// Cancels a request; it still fails or finishes.
  func cancel(_ number: UInt32) throws

  /// Waits for the next event of any request.
  ///
  /// - Returns: The event; `nil` after a timeout.
  func receive(milliseconds: Int64) throws -> (number: UInt32, event: FetchEvent)?
}

/// A transport for runs that send no requests.
public struct NoTransport: Transport {
  /// Creates the transport.
  public init() {}

  public func send(_ request: FetchRequest, as number: UInt32) {}

  public func cancel(_ number: UInt32) {}

  public func receive(milliseconds: Int64) -> (number: UInt32, event: FetchEvent)? { nil }
}
