import Bytes
import Fetching
import Files
import HTTPCaching
import ResponseStorage
import Revalidation
import Testing

@Suite struct RevalidatorTests {
  /// A transport that returns scripted events for any request.
  private final class Script: Transport {
    var events: [(number: UInt32, event: FetchEvent)]
    var sent: [UInt32] = []
    var cancelled: [UInt32] = []
    var clock: Int64 = 0

    init(_ events: [(UInt32, FetchEvent)]) {
      self.events = events.map { (number: $0.0, event: $0.1) }
    }

    func send(_ request: FetchRequest, as number: UInt32) { sent.append(number) }

    func cancel(_ number: UInt32) { cancelled.append(number) }

    func receive(milliseconds: Int64) -> (number: UInt32, event: FetchEvent)? {
      clock += milliseconds
      return events.isEmpty ? nil : events.removeFirst()
    }
  }

  private static let head = FetchHead(
    status: 200, url: [], fields: Sample.fields(["ETag: \"b\""]))

  private func requests(_ count: Int, bodyLimit: ByteCount? = nil) -> [ValidationRequest] {
    var rules = ValidationRules()
    rules.bodyLimit = bodyLimit
    return (0..<count).map { _ in
      ValidationRequest(for: Sample.response(["ETag: \"a\""]), by: rules)
    }
  }

  private func run(
    _ events: [(UInt32, FetchEvent)], asking requests: [ValidationRequest], spool: BodySpool? = nil
  ) throws -> (results: [ValidationResult], script: Script) {
    let script = Script(events)
    let revalidator = Revalidator(
      schedule: FetchSchedule(concurrency: 4), spool: spool, wallClock: { Sample.stored },
      steadyClock: { script.clock })
    let all = try ValidationRequests()
    for request in requests { try all.append(request) }
    var results: [Int64: ValidationResult] = [:]
    try revalidator.run(all, over: script) { results[$0] = $1 }
    return (results.sorted { $0.key < $1.key }.map(\.value), script)
  }

  @Test func `interleaved responses are matched to their requests`() throws {
    let (results, script) = try run(
      [
        (1, .head(FetchHead(status: 404, url: [], fields: FieldSection()))), (0, .head(Self.head)),
        (7, .end), (0, .end), (0, .end), (1, .end), (2, .failure(.init(.security, "x"))),
      ], asking: requests(3))
    #expect(results.map(\.outcome) == [.changed, .gone, .failed])
    #expect(results[2].reason == .failure(.init(.security, "x")))
    #expect(script.sent == [0, 1, 2])
  }

  /// A transport that answers every request at once, the last one first.
  private final class Echo: Transport {
    var events: [(number: UInt32, event: FetchEvent)] = []
    var sent: [UInt32: Int] = [:]
    var most = 0

    func send(_ request: FetchRequest, as number: UInt32) {
      sent[number, default: 0] += 1
      most = max(most, events.count / 2 + 1)
      // Whoever asks with conditions gets the 304 of something else.
      let isConditional = request.fields.contains(.ifNoneMatch)
      let head = FetchHead(
        status: isConditional ? 304 : 200, url: [], fields: Sample.fields(["ETag: \"b\""]))
      events += [(number, .end), (number, .head(head))]
    }

    func cancel(_ number: UInt32) {}

    func receive(milliseconds: Int64) -> (number: UInt32, event: FetchEvent)? { events.popLast() }
  }

  @Test func `more requests than are kept in memory have one result each`() throws {
    let all = try ValidationRequests()
    for index in 0..<3_000 {
      var rules = ValidationRules()
      rules.bodyLimit = ByteCount(100)
      // Every third one has no URL that can be asked.
      let host = index % 3 == 0 ? "ftp://a" : index % 7 == 0 ? "https://b" : "https://c"
      let response = Sample.response(["ETag: \"a\""], url: "\(host).example/\(index)")
      try all.append(ValidationRequest(for: response, by: rules))
    }
    let echo = Echo()
    var finished = 0
    let revalidator = Revalidator(
      schedule: FetchSchedule(concurrency: 4), spool: try BodySpool(),
      wallClock: { Sample.stored }, steadyClock: { 0 }
    ) { finished += 1 }
    var outcomes: [Int64: ValidationResult.Outcome] = [:]
    try revalidator.run(all, over: echo) { number, result in
      #expect(outcomes.updateValue(result.outcome, forKey: number) == nil)
    }
    #expect(outcomes.count == 3_000 && finished == 2_000 && echo.sent.count == 2_000)
    // Each is asked again without conditions.
    #expect(echo.sent.values.allSatisfy { $0 == 2 } && echo.most <= 4)
    #expect(outcomes.allSatisfy { $0.value == ($0.key % 3 == 0 ? .notAsked : .changed) })
  }

  /// A transport in which one host answers only when no other has anything to say.
  private final class SlowHost: Transport {
    var fast: [(number: UInt32, event: FetchEvent)] = []
    var slow: [(number: UInt32, event: FetchEvent)] = []
    /// The number of answers of other hosts when the slow one gave its first.
    var fastBefore: Int?
    var fastCount = 0

    func send(_ request: FetchRequest, as number: UInt32) {
      let events: [(number: UInt32, event: FetchEvent)] = [
        (number, .head(RevalidatorTests.head)), (number, .end),
      ]
      if request.url.starts(with: Array("https://slow".utf8)) {
        slow += events
      } else {
        fast += events
        fastCount += 1
      }
    }

    func cancel(_ number: UInt32) {}

    func receive(milliseconds: Int64) -> (number: UInt32, event: FetchEvent)? {
      if !fast.isEmpty { return fast.removeFirst() }
      if slow.isEmpty { return nil }
      fastBefore = fastBefore ?? fastCount
      return slow.removeFirst()
    }
  }

  @Test func `a host that answers slowly does not hold up the others`() throws {
    let all = try ValidationRequests()
    for index in 0..<5_000 {
      let host = index % 2 == 0 ? "slow" : "fast"
      let response = Sample.response(["ETag: \"a\""], url: "https://\(host).example/\(index)")
      try all.append(ValidationRequest(for: response, by: ValidationRules()))
    }
    let transport = SlowHost()
    let revalidator = Revalidator(
      schedule: FetchSchedule(concurrency: 4), wallClock: { Sample.stored }, steadyClock: { 0 })
    var numbers: [Int64] = []
    try revalidator.run(all, over: transport) { number, _ in numbers.append(number) }
    #expect(numbers.sorted() == Array(0..<5_000))
    #expect(transport.fastBefore == 2_500)
    // Each host is asked in the order of its entries.
    let slow = numbers.filter { $0 % 2 == 0 }
    #expect(slow == slow.sorted())
  }

  @Test func `skipped entries send no request`() throws {
    var requests = requests(1)
    requests.insert(
      ValidationRequest(for: Sample.response([]), by: ValidationRules()), at: 0)
    let (results, script) = try run([(1, .head(Self.head)), (1, .end)], asking: requests)
    #expect(results.map(\.outcome) == [.noValidator, .changed])
    #expect(script.sent == [1])
  }

  @Test func `a malformed sequence of events fails`() throws {
    let body: (UInt32, FetchEvent) = (0, .body([1, 2, 3]))
    for events: [(UInt32, FetchEvent)] in [
      [(0, .end)], [body], [(0, .head(Self.head)), (0, .head(Self.head))],
      // A body that was not requested.
      [(0, .head(Self.head)), body],
    ] {
      let (results, _) = try run(events, asking: requests(1))
      #expect(results.map(\.outcome) == [.failed])
    }
    let spool = try BodySpool()
    let (results, _) = try run(
      [(0, .head(Self.head)), body], asking: requests(1, bodyLimit: 2), spool: spool)
    #expect(results.map(\.outcome) == [.failed])
  }

  @Test func `a transport that stops does not block`() throws {
    let (results, script) = try run([(0, .head(Self.head))], asking: requests(2))
    #expect(results.map(\.outcome) == [.failed, .failed])
    #expect(script.cancelled.sorted() == [0, 1])
    #expect(script.clock < 900_000)
  }

  @Test func `interleaved bodies are kept apart`() throws {
    let spool = try BodySpool()
    let (results, _) = try run(
      [
        (0, .head(Self.head)), (1, .head(Self.head)), (0, .body([1, 2])), (0, .body([3])),
        (1, .body([7, 8])), (0, .body([4])), (1, .body([])), (0, .end), (1, .end),
      ], asking: requests(2, bodyLimit: 100), spool: spool)
    let pieces = results.map { $0.response?.body ?? [] }
    #expect(pieces == [[0..<3, 5..<6], [3..<5]])
    for (pieces, bytes) in zip(pieces, [[1, 2, 3, 4], [7, 8]] as [[UInt8]]) {
      let body = spool.body(of: pieces)
      #expect(body.size == ByteCount(bytes.count))
      for size in 1...5 {
        var read: [UInt8] = []
        var reader = try body.makeReader()
        var buffer = [UInt8](repeating: 0, count: size)
        while case let count = try reader.read(into: &buffer), count > 0 {
          read += buffer[..<count]
        }
        #expect(read == bytes)
      }
    }
  }
}
