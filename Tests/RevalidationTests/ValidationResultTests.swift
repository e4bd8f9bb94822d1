import Bytes
import Fetching
import HTTPCaching
import ResponseStorage
import Revalidation
import Testing

@Suite struct ValidationResultTests {
  /// A response to a validation request, and its meaning.
  struct Case: Sendable {
    var stored: [String]
    /// The header fields of the stored request; `nil` if none are stored.
    var request: [String]? = []
    var storedStatus: Int64 = 200
    var status: Int64
    var answer: [String] = []
    var outcome: ValidationResult.Outcome
    var decider: ValidatorComparison.Decider?
    var reason: ValidationResult.Reason?
    var saved: ByteCount = 0
    /// The action if refreshing and removing are both enabled.
    var action = RevalidationPlan.Action.none
    var skipReason: RevalidationPlan.SkipReason?

    /// The stored response.
    var response: StoredResponse {
      var response = Sample.response(stored, request: request ?? [], status: storedStatus)
      // Only a Foundation store has no requests.
      if request == nil { (response.id, response.request.headers) = (.file("a"), nil) }
      return response
    }
  }

  private static let (a, b, weak) = ("ETag: \"a\"", "ETag: \"b\"", "ETag: W/\"a\"")
  private static let earlier = "Last-Modified: \(Sample.earlier)"
  /// A length of one byte more than is stored.
  private static let cut = "Content-Length: 1001"
  private static let later = "Last-Modified: \(Sample.later)"

  private static let cases = [
    Case(
      stored: [a], status: 304, answer: [a], outcome: .unchanged, decider: .entityTag, saved: 1_000,
      action: .freshen),
    Case(
      stored: [weak], status: 304, answer: [weak], outcome: .unchanged, decider: .entityTag,
      saved: 1_000, action: .freshen),
    Case(
      stored: [later], status: 304, answer: [later], outcome: .unchanged, decider: .lastModified,
      saved: 1_000, action: .freshen),
    Case(
      stored: [a, later], status: 304, answer: [], outcome: .unchanged, decider: .entityTag,
      saved: 1_000, skipReason: .noValidatorIn304),
    Case(
      stored: [later], status: 304, answer: [], outcome: .unchanged, decider: .lastModified,
      saved: 1_000, skipReason: .noValidatorIn304),
    Case(stored: [a], status: 304, answer: [b], outcome: .failed, reason: .contradiction),
    Case(stored: [earlier], status: 304, answer: [later], outcome: .failed, reason: .contradiction),
    Case(
      stored: [later], status: 304, answer: [earlier], outcome: .rolledBack, decider: .lastModified,
      skipReason: .bodyNotSent),
    Case(
      stored: [a, later], status: 304, answer: [b, earlier], outcome: .rolledBack,
      decider: .entityTag, skipReason: .bodyNotSent),
    Case(
      stored: [a], status: 200, answer: [a], outcome: .unchanged, decider: .entityTag,
      action: .replace),
    Case(
      stored: [a], status: 200, answer: [b], outcome: .changed, decider: .entityTag,
      action: .replace),
    Case(
      stored: [earlier], status: 200, answer: [later], outcome: .changed, decider: .lastModified,
      action: .replace),
    Case(
      stored: [later], status: 200, answer: [earlier], outcome: .rolledBack, decider: .lastModified,
      action: .replace),
    Case(
      stored: [a, later], status: 200, answer: [b, earlier], outcome: .rolledBack,
      decider: .entityTag, action: .replace),
    Case(
      stored: [a, later], status: 200, answer: [a, earlier], outcome: .unchanged,
      decider: .entityTag, action: .replace),
    Case(stored: [a], status: 200, outcome: .changed, action: .replace),
    // The stored variant is unknown, so only variants that are codings of the same body are equivalent.
    Case(
      stored: [a, "Vary: X"], request: nil, status: 200, answer: [b], outcome: .changed,
      decider: .entityTag, skipReason: .otherVariant),
    Case(
      stored: [a, "Vary: Accept-Encoding"], request: nil, status: 200, answer: [b],
      outcome: .changed, decider: .entityTag, action: .replace),
    Case(
      stored: [a, "Vary: X"], request: nil, status: 304, answer: [a], outcome: .unchanged,
      decider: .entityTag, saved: 1_000, action: .freshen),
    Case(
      stored: [a], request: ["X: 1"], status: 200, answer: [b, "Vary: X"], outcome: .changed,
      decider: .entityTag, skipReason: .otherVariant),
    Case(
      stored: [a, "Vary: X"], request: ["X: 1"], status: 200, answer: [b, "Vary: X, Y"],
      outcome: .changed, decider: .entityTag, action: .replace),
    Case(
      stored: [a], status: 200, answer: [b, "Cache-Control: no-store"], outcome: .changed,
      decider: .entityTag, skipReason: .notStorable),
    Case(stored: [a], status: 404, outcome: .gone, action: .remove),
    Case(stored: [a], status: 410, answer: [a], outcome: .gone, action: .remove),
    Case(
      stored: [a], storedStatus: 404, status: 404, answer: [a], outcome: .unchanged,
      decider: .entityTag, skipReason: .notStorable),
    Case(
      stored: [a], storedStatus: 404, status: 200, answer: [a], outcome: .changed, action: .replace),
    Case(stored: [a], status: 308, answer: ["Location: /b"], outcome: .redirected),
    Case(stored: [a], status: 308, outcome: .failed, reason: .status),
    Case(stored: [a], status: 302, outcome: .failed, reason: .status),
    Case(stored: [a], status: 206, answer: [a], outcome: .failed, reason: .status),
    Case(stored: [a], status: 503, outcome: .failed, reason: .status),
    Case(
      stored: [a, cut], status: 206, answer: [a], outcome: .incomplete, decider: .entityTag,
      skipReason: .partialContent),
    Case(
      stored: [a, cut], status: 206, answer: [b], outcome: .changed,
      decider: .entityTag, skipReason: .partialContent),
    Case(
      stored: [a, cut], status: 200, answer: [a], outcome: .unchanged, decider: .entityTag,
      action: .replace),
    Case(
      stored: [a, cut], status: 200, answer: [b], outcome: .changed, decider: .entityTag,
      action: .replace),
    Case(stored: [a, cut], status: 416, outcome: .failed, reason: .status),
  ]

  @Test func `each response has its meaning`() throws {
    for (index, test) in Self.cases.enumerated() {
      let request = ValidationRequest(for: test.response, by: ValidationRules())
      #expect(request.skipReason == nil, "case \(index)")
      let head = FetchHead(status: test.status, url: [], fields: Sample.fields(test.answer))
      let result = ValidationResult(
        request,
        ValidationResponse(
          head: head, requestTime: Sample.stored + 9, responseTime: Sample.stored + 10))
      #expect(result.outcome == test.outcome, "case \(index)")
      #expect(result.decider == test.decider, "case \(index)")
      #expect(result.reason == test.reason, "case \(index)")
      #expect(result.savedBytes == test.saved, "case \(index)")
      var changes = RevalidationPlan.Changes()
      #expect(RevalidationPlan.Entry(result, making: changes).action == .none)
      (changes.refreshes, changes.allowsEmpty) = (true, true)
      changes.removesGone = true
      let entry = RevalidationPlan.Entry(result, making: changes)
      #expect(entry.action == test.action, "case \(index)")
      #expect(entry.skipReason == test.skipReason, "case \(index)")
    }
  }

  @Test func `changed entries are removed on request, and nothing else`() {
    var changes = RevalidationPlan.Changes()
    changes.removesChanged = true
    for test in Self.cases {
      let request = ValidationRequest(for: test.response, by: ValidationRules())
      let head = FetchHead(status: test.status, url: [], fields: Sample.fields(test.answer))
      let result = ValidationResult(
        request,
        ValidationResponse(head: head, requestTime: Sample.stored, responseTime: Sample.stored))
      let isChanged = result.outcome == .changed || result.outcome == .rolledBack
      let keepingPinned = RevalidationPlan.Entry(result, making: changes) { _ in true }
      #expect(
        keepingPinned.action == .none && keepingPinned.skipReason == (isChanged ? .pinned : nil))
      let action = RevalidationPlan.Entry(result, making: changes).action
      #expect(action == (isChanged ? .remove : .none))
    }
  }

  @Test func `a redirect reports its target`() {
    let request = ValidationRequest(for: Sample.response([Self.a]), by: ValidationRules())
    let head = FetchHead(status: 301, url: [], fields: Sample.fields(["location: /b\u{1B}"]))
    let result = ValidationResult(
      request, ValidationResponse(head: head, requestTime: 0, responseTime: 0))
    let entry = RevalidationPlan.Entry(result, making: RevalidationPlan.Changes())
    #expect(entry.location == "/b\u{1B}")
  }
}
