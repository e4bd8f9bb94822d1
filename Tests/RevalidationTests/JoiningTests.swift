import Bytes
import Fetching
import HTTPCaching
import ResponseStorage
import Testing

@testable import Revalidation

/// Tests that the rest of a body is only joined to the stored part if both are from the same representation.
@Suite struct JoiningTests {
  /// A store with one response, of which 1000 bytes are stored.
  private struct OneResponse: ResponseSource {
    var response: StoredResponse
    var body = [UInt8](repeating: 7, count: 1_000)

    var description: StoreDescription {
      StoreDescription(path: "", format: .apple, schemaVersion: 203)
    }

    func scan(
      _ projection: Projection, _ body: (borrowing StoredResponse) throws -> ScanStep
    ) throws {
      _ = try body(response)
    }

    func response(_ id: StoredResponse.ID, _ projection: Projection) -> StoredResponse? { response }

    func count() -> Int64 { 1 }

    func withBody(of id: StoredResponse.ID, _ read: (inout BodyReader) throws -> Void) throws {
      var rest = body[...]
      var reader = BodyReader(size: ByteCount(body.count)) { buffer in
        let piece = rest.prefix(min(buffer.count, 300))
        buffer.replaceSubrange(0..<piece.count, with: piece)
        rest = rest.dropFirst(piece.count)
        return piece.count
      }
      try read(&reader)
    }

    func rawPropertyList(_ name: String, of id: StoredResponse.ID) -> [UInt8]? { nil }
    func footprint() -> Footprint { Footprint() }
    func forEachFinding(
      fully: Bool, now: Timestamp, after search: DamageSearch?, _ body: (Finding) throws -> Void
    ) {}
    func finish() {}
  }

  /// A response to the request for the rest of a body of 1004 bytes, and the expected result.
  struct Case: Sendable {
    var stored = ["ETag: \"a\"", "Content-Length: 1004"]
    var storedStatus: Int64 = 200
    var mimeType: ByteString = "image/png"
    var request: [String] = []
    var status: Int64 = 206
    var url = ""
    var answer = ["ETag: \"a\"", "Content-Range: bytes 1000-1003/1004"]
    var rest = 4
    /// Why the parts are not joined; `nil` if they are.
    var misfit: RestMisfit?
  }

  private static let date = "Date: \(Sample.later)"
  private static let modified = "Last-Modified: \(Sample.earlier)"
  private static let range = "Content-Range: bytes 1000-1003/1004"

  private static let cases = [
    Case(), Case(url: "https://a.example/"), Case(url: "https://u:p@A.example:443/#f"),
    Case(url: "https://a.example/other", misfit: .otherURL),
    Case(url: "http://a.example/", misfit: .otherURL),
    Case(status: 416, misfit: .notSatisfiable), Case(status: 304, misfit: .notModified),
    Case(answer: ["ETag: \"b\"", range], misfit: .validator),
    Case(answer: ["ETag: W/\"a\"", range], misfit: .validator),
    Case(answer: [range], misfit: .validator),
    Case(answer: ["ETag: \"a\""], misfit: .contentRange),
    Case(answer: ["ETag: \"a\"", range, range], misfit: .contentRange),
    Case(answer: ["ETag: \"a\"", "Content-Range: bytes 1000-1002/1004"], misfit: .endsEarly),
    Case(rest: 5, misfit: .length), Case(rest: 3, misfit: .length), Case(rest: 0, misfit: .length),
    Case(
      answer: ["ETag: \"a\"", range, "Content-Type: MULTIPART/byteranges; boundary=x"],
      misfit: .multipart),
    Case(
      answer: ["ETag: \"a\"", range, "Content-Encoding: gzip"], misfit: .contentEncoding),
    // A date identifies the representation only if it is strong in both responses and there is no other variant.
    Case(
      stored: [modified, date, "Content-Length: 1004"], answer: [modified, date, range]),
    Case(
      stored: [modified, date, "Content-Length: 1004"], answer: [modified, range],
      misfit: .validator),
    Case(
      stored: [modified, date, "Content-Length: 1004"], answer: [date, range], misfit: .validator),
    Case(
      stored: [modified, date, "Content-Length: 1004"], request: ["X: 1"],
      answer: [modified, date, range, "Vary: X"], misfit: .otherVariant),
    Case(request: ["X: 1"], answer: ["ETag: \"a\"", range, "Vary: X"]),
    // The complete length of a stored 206 may be unknown.
    Case(
      stored: ["ETag: \"a\"", "Content-Range: bytes 0-999/1004"], storedStatus: 206),
    Case(stored: ["ETag: \"a\"", "Content-Range: bytes 0-999/*"], storedStatus: 206),
    Case(
      stored: ["ETag: \"a\"", "Content-Range: bytes 0-999/1005"], storedStatus: 206,
      misfit: .contentRange),
    Case(mimeType: "application/json", misfit: .rewritten),
    Case(
      stored: ["ETag: \"a\"", "Content-Range: bytes 0-999/1004"], storedStatus: 206,
      mimeType: "application/json"),
    Case(answer: ["ETag: \"a\"", range, "Repr-Digest: sha-256=:AAAA:"], misfit: .digest),
    Case(answer: ["ETag: \"a\"", range, "Repr-Digest: crc32c=:AAAA:"]),
    Case(answer: ["ETag: \"a\"", range, "Digest: MD5=AAAA"], misfit: .digest),
    Case(answer: ["ETag: \"a\"", range, "Content-MD5: no Base64"], misfit: .digest),
    Case(
      stored: ["ETag: \"a\"", "Content-Length: 1004", "Content-Digest: sha-512=:AAAA:"],
      misfit: .digest),
    // A digest of a stored part does not cover the whole body.
    Case(
      stored: [
        "ETag: \"a\"", "Content-Range: bytes 0-999/1004", "Content-Digest: sha-512=:AAAA:",
        "Content-MD5: AAAA",
      ], storedStatus: 206),
  ]

  private func result(of test: Case, _ spool: BodySpool) throws -> ValidationResult {
    var rules = ValidationRules()
    rules.bodyLimit = ByteCount(1 << 20)
    var response = Sample.response(test.stored, request: test.request, status: test.storedStatus)
    response.mimeType = test.mimeType
    var request = ValidationRequest(for: response, by: rules)
    #expect(request.asksForRest)
    try request.keepStart(from: OneResponse(response: response), in: spool)
    var body: [BodySpool.Piece] = []
    try spool.append([UInt8](repeating: 9, count: test.rest), to: &body)
    let head = FetchHead(
      status: test.status, url: Array(test.url.utf8), fields: Sample.fields(test.answer))
    var result = ValidationResult(
      request,
      ValidationResponse(
        head: head, requestTime: Sample.stored + 9, responseTime: Sample.stored + 10, body: body))
    try result.joinRest(in: spool)
    return result
  }

  @Test func `a rest is joined, or the reason against it is given`() throws {
    let spool = try BodySpool()
    for (index, test) in Self.cases.enumerated() {
      let result = try result(of: test, spool)
      #expect(result.misfit == test.misfit, "case \(index)")
      #expect((result.joined == nil) == (test.misfit != nil), "case \(index)")
      var changes = RevalidationPlan.Changes()
      changes.refreshes = true
      let entry = RevalidationPlan.Entry(result, making: changes)
      #expect((entry.action == .complete) == (test.misfit == nil), "case \(index)")
      guard let joined = result.joined else { continue }
      #expect(result.outcome == .incomplete && result.savedBytes == 1_000 && joined.size == 1_004)
      let bytes = try spool.body(of: joined.pieces).readAll()
      #expect(
        bytes == [UInt8](repeating: 7, count: 1_000) + [9, 9, 9, 9], "case \(index)")
    }
  }

  @Test func `every misfit has a case above, or applies to all responses`() {
    #expect(Set(Self.cases.compactMap(\.misfit)) == Set(RestMisfit.allCases))
  }

  @Test func `responses that may not be stored are not completed`() throws {
    let spool = try BodySpool()
    let test = Case(answer: ["ETag: \"a\"", Self.range, "Cache-Control: no-store"])
    let result = try result(of: test, spool)
    var changes = RevalidationPlan.Changes()
    changes.refreshes = true
    let entry = RevalidationPlan.Entry(result, making: changes)
    #expect(entry.action == .none && entry.skipReason == .notStorable)
  }

  @Test func `nothing is joined to a stored part that has disappeared`() throws {
    let spool = try BodySpool()
    var rules = ValidationRules()
    rules.bodyLimit = ByteCount(1 << 20)
    let response = Sample.response(["ETag: \"a\"", "Content-Length: 1004"])
    for length in [0, 1, 999, 1_000, 1_001] {
      var request = ValidationRequest(for: response, by: rules)
      let source = OneResponse(response: response, body: [UInt8](repeating: 1, count: length))
      try request.keepStart(from: source, in: spool)
      #expect((request.start != nil) == (length >= 1_000), "\(length)")
      #expect(request.start?.size ?? 1_000 == 1_000)
    }
  }

  @Test func `a completed response is a 200 with the complete length`() {
    let test = Case(
      stored: [
        "Age: 7", "ETag: \"a\"", "Content-Length: 1000", "Content-Type: image/png", "X-A: old",
        "Content-Range: bytes 0-999/1004", "Content-Digest: sha-256=:AAAA:",
      ], storedStatus: 206,
      answer: [
        "Content-Length: 4", "Content-Range: bytes 1000-1003/1004", "ETag: \"a\"", "X-A: new",
        "Content-Type: text/plain", "Content-MD5: +jYJRIMPkmPR1aG2+iMHiA==", "Connection: x",
        "X-B: b",
      ])
    let exchange = Exchange(
      request: nil, status: 206, fields: Sample.fields(test.stored), responseTime: Sample.stored)
    let answer = ValidationResponse(
      head: FetchHead(status: 206, url: [], fields: Sample.fields(test.answer)),
      requestTime: Sample.stored + 1, responseTime: Sample.stored + 2)
    let body = JoinedBody(pieces: [0..<1_004], keptSize: 1_000, size: 1_004)
    let completed = exchange.completed(by: answer, body)
    #expect(
      Sample.lines(completed.fields).sorted()
        == [
          "Content-Length: 1004", "Content-Type: image/png", "ETag: \"a\"", "X-A: new", "X-B: b",
        ].sorted())
    #expect(completed.status == 200 && completed.bodyBytes == 1_004)
  }
}
