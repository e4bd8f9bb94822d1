import Bytes
import Fetching
import HTTPCaching
import ResponseStorage
import Testing

@testable import Revalidation

/// Tests that requests and the entries of a plan are the same after they were kept in a temporary database.
@Suite struct KeepingTests {
  private static func requests() -> [ValidationRequest] {
    var rules = ValidationRules()
    rules.bodyLimit = ByteCount(1 << 20)
    var file = Sample.response(["ETag: \"a\""], url: "https://b.example/")
    file.id = .file("name\u{0}")
    file.key = nil
    file.file = FileVersion(number: .max, modified: .min, size: 7)
    file.request.headers = nil
    var undecodable = Sample.response([])
    undecodable.responseHeaders = nil
    undecodable.url = nil
    var varying = Sample.response(["Vary: X", "ETag: \"a\""], request: ["X: 1", "Cookie: a"])
    varying.protocolProperties = [
      .init(key: "X", value: .dictionary([.init(key: "X", value: .text("\u{7F}1"))]))
    ]
    varying.stored = Timestamp(secondsSince1970: Double(Sample.stored) + 0.25)
    let responses = [
      Sample.response(["ETag: \"a\"", "Last-Modified: \(Sample.earlier)"]), file, undecodable,
      varying,
      Sample.response(["ETag: \"a\"", "Content-Length: 1001"]),
      Sample.response([], method: "POST"),
      Sample.response(["ETag: \"a\""], url: "ftp://a.example/"),
    ]
    return responses.map { ValidationRequest(for: $0, by: rules) }
      + responses.map { ValidationRequest(for: $0, by: ValidationRules()) }
  }

  @Test func `requests are read as they were added`() throws {
    var requests = Self.requests()
    #expect(
      Set(requests.compactMap(\.skipReason))
        == [.undecodable, .method, .url, .needsCredentials])
    requests[4].start = StoredStart(
      pieces: [0..<4, 9..<1_005], size: 1_000, fields: Sample.fields(["Content-MD5: a"]))
    let all = try ValidationRequests()
    for request in requests { try all.append(request) }
    #expect(all.count == Int64(requests.count))
    #expect(all.sentCount == Int64(requests.count { $0.skipReason == nil }))
    var reader = try all.makeReader()
    var read: [Int64: ValidationRequest] = [:]
    while let (number, request) = try reader.next(if: { _, _ in true }) { read[number] = request }
    let isAtEnd = reader.isAtEnd
    #expect(isAtEnd)
    #expect(read.sorted { $0.key < $1.key }.map(\.value) == requests)
  }

  @Test func `hosts take turns`() throws {
    let all = try ValidationRequests()
    for name in ["a", "a", "A", "b", "a", "c", "b"] {
      let response = Sample.response(["ETag: \"a\""], url: "https://\(name).example/")
      try all.append(ValidationRequest(for: response, by: ValidationRules()))
    }
    var reader = try all.makeReader()
    var order: [Int64] = []
    while !reader.isAtEnd {
      // An unwanted request is passed over.
      if let (number, _) = try reader.next(if: { $1 != 6 }) { order.append(number) }
    }
    #expect(order == [0, 3, 5, 1, 2, 4])
    var others = try all.makeReader()
    #expect(try others.next(of: Array("a.example".utf8), from: 2)?.number == 2)
    #expect(try others.next(of: Array("a.example".utf8), from: 3)?.number == 4)
    #expect(try others.next(of: Array("a.example".utf8), from: 5) == nil)
  }

  /// Results with and without a response, a reason, a joined body and a misfit.
  private static func results() -> [ValidationResult] {
    let statuses: [Int64] = [200, 206, 301, 304, 404, 500]
    return requests().flatMap { request -> [ValidationResult] in
      if let skipReason = request.skipReason {
        return [ValidationResult(request, notAskedFor: skipReason)]
      }
      let failure = FetchFailure(.noSuchHost, "\u{1B}")
      return [ValidationResult(request, failure)]
        + statuses.map { status in
          let fields = Sample.fields(["ETag: \"b\"", "Location: /\u{1B}"])
          let head = FetchHead(status: status, url: Array("https://c.example".utf8), fields: fields)
          return ValidationResult(
            request,
            ValidationResponse(
              head: head, requestTime: Sample.stored + 9, responseTime: .max, body: [0..<1, 5..<9]))
        }
    }
  }

  @Test func `the entries of a plan are read as they were decided`() throws {
    var changes = RevalidationPlan.Changes()
    (changes.refreshes, changes.removesGone) = (true, true)
    let plan = try RevalidationPlan(making: changes)
    var entries: [RevalidationPlan.Entry] = []
    for (number, result) in Self.results().enumerated() {
      try plan.insert(result, at: Int64(number))
      entries.append(RevalidationPlan.Entry(result, making: changes))
    }
    var read: [RevalidationPlan.Entry] = []
    try plan.forEach { entry, isSkipped in
      #expect(!isSkipped)
      read.append(entry)
    }
    #expect(read == entries)
    #expect(plan.count == Int64(entries.count))
    for outcome in ValidationResult.Outcome.allCases {
      #expect(plan.count(outcome) == Int64(entries.count { $0.outcome == outcome }))
    }
    for action in RevalidationPlan.Action.allCases {
      #expect(plan.count(action) == Int64(entries.count { $0.action == action }))
    }
    #expect(plan.askedCount == Int64(entries.count { $0.wasAsked }))
    #expect(plan.hinderedCount == Int64(entries.count { $0.skipReason != nil }))
  }

  @Test func `all parts of an entry are kept`() throws {
    var entry = RevalidationPlan.Entry(Self.results()[0], making: RevalidationPlan.Changes())
    for misfit in RestMisfit.allCases {
      entry = RevalidationPlan.Entry(
        version: entry.version, url: "x", bodySize: nil, wasAsked: true, sent: [.lastModified],
        credentials: .sent, response: nil, outcome: .incomplete, decider: .entityTag,
        reason: .contradiction, joined: JoinedBody(pieces: [1..<2], keptSize: 1, size: 2),
        misfit: misfit, savedBytes: 1, action: .complete, skipReason: .pinned)
      var values = PackedValues()
      entry.pack(into: &values)
      var reader = PackedReader(values.bytes)
      #expect(try RevalidationPlan.Entry(from: &reader) == entry)
      // A part of it is no entry.
      for length in values.bytes.indices {
        var reader = PackedReader(Array(values.bytes[..<length]))
        #expect(throws: PackedReader.Failure.self) { try RevalidationPlan.Entry(from: &reader) }
      }
    }
  }

  @Test func `changes are read in the order of ids, and skipped ones are marked`() throws {
    var changes = RevalidationPlan.Changes()
    (changes.refreshes, changes.removesGone) = (true, true)
    let plan = try RevalidationPlan(making: changes)
    let ids: [StoredResponse.ID] = [.row(9), .file("b"), .row(-3), .file("a"), .row(.max), .row(2)]
    for (number, id) in ids.enumerated() {
      var response = Sample.response(["ETag: \"a\""])
      response.id = id
      let request = ValidationRequest(for: response, by: ValidationRules())
      let head = FetchHead(
        status: number < 4 ? 304 : 404, url: [], fields: Sample.fields(["ETag: \"a\""]))
      try plan.insert(
        ValidationResult(request, ValidationResponse(head: head, requestTime: 0, responseTime: 0)),
        at: Int64(number))
    }
    try plan.finish()
    var refreshes = try plan.makeRefreshReader()
    let first = try refreshes.next(3)
    #expect(first.map(\.version.id) == [.row(-3), .row(9), .file("a")])
    #expect(try refreshes.next(3).map(\.version.id) == [.file("b")])
    #expect(try refreshes.next(3) == [])
    #expect(try refreshes.next() == nil)
    var removals = try plan.makeRemovalReader()
    #expect(try removals.next(9).map(\.version.id) == [.row(2), .row(.max)])
    plan.skip(first[1])
    var skipped: [StoredResponse.ID] = []
    try plan.forEach { if $1 { skipped.append($0.version.id) } }
    #expect(skipped == [.row(9)])
    #expect(plan.skippedCount == 1 && plan.changedCount == 6)
    #expect(plan.count(.freshen) == 4 && plan.doneCount(.freshen) == 3)
    #expect(plan.doneCount(.remove) == 2)
  }
}
