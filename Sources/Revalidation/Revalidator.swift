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
    var bodyBytes: Int64 = 0
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
  /// - Returns: What became of each, in the order of the requests.
  /// - Throws: What the transport throws, or the spool; an origin that fails is a result.
  public func run(
    _ requests: [ValidationRequest], over transport: any Transport
  ) throws -> [ValidationResult] {
    var results = requests.map { request in
      request.obstacle.map { ValidationResult(request, notAskedFor: $0) }
    }
    var schedule = schedule
    schedule.add(
      requests.enumerated().lazy.filter { results[$0.offset] == nil }
        .map { ($0.offset, $0.element.host?.bytes ?? []) })
    var pending: [UInt32: Pending] = [:]
    var ended = 0
    while !schedule.isDone {
      while let index = schedule.begin(at: steadyClock()) {
        guard case .success(let request) = requests[index].request else { continue }
        let span = (Int64(request.timeoutMilliseconds) + 1) * Self.mostRounds + Self.grace
        pending[UInt32(index)] = Pending(
          requestTime: wallClock(), deadline: steadyClock() + span)
        try transport.send(request, as: UInt32(index))
      }
      let wait = schedule.delay(at: steadyClock()) ?? 1_000
      guard let (number, event) = try transport.receive(milliseconds: min(wait, 1_000)) else {
        for (number, state) in pending where state.deadline < steadyClock() {
          pending[number] = nil
          try? transport.cancel(number)
          results[Int(number)] = ValidationResult(
            requests[Int(number)], FetchFailure(.timeout, "it took too long"))
          schedule.end(Int(number))
          ended += 1
          progress(ended)
        }
        continue
      }
      // What was given up may still end.
      guard pending[number] != nil else { continue }
      guard
        let result = try take(
          event, &pending[number, default: Pending(requestTime: 0, deadline: 0)],
          requests[Int(number)])
      else { continue }
      pending[number] = nil
      results[Int(number)] = result
      schedule.end(Int(number))
      ended += 1
      progress(ended)
    }
    return zip(requests, results).map { request, result in
      result ?? ValidationResult(request, FetchFailure(.other, "there was no answer"))
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
      pending.bodyBytes += Int64(bytes.count)
      guard pending.bodyBytes <= limit else { return Self.broken(request) }
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
