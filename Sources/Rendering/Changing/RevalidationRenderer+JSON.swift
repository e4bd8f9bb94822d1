import Bytes
import Fetching
import HTTPCaching
import JSON
public import ResponseStorage
public import Revalidation

extension RevalidationRenderer {
  /// Appends one JSON object, with every entry.
  ///
  /// - Parameters:
  ///   - store: The cache before the run.
  ///   - flush: Is called after each entry, of which there may be millions.
  /// - Throws: `FileError` if the entries cannot be read, or the error that `flush` throws.
  public func appendJSON(
    _ plan: RevalidationPlan, of store: StoreDescription, into buffer: inout TextBuffer,
    _ flush: (inout TextBuffer) throws -> Void
  ) throws {
    var stream = JSONStream(.hostileText)
    stream.begin("entries", in: &buffer.bytes) { json in
      json.member(schema: "revalidate")
      json.member("dry_run", isDryRun)
      json.member("cache", store)
      json.member("asked", plan.askedCount)
      for outcome in ValidationResult.Outcome.allCases {
        json.member(Self.key(outcome), plan.count(outcome))
      }
      json.member("saved_bytes", plan.savedBytes)
    }
    try plan.forEach { entry, isSkipped in
      stream.append(to: &buffer.bytes) { json in
        json.object { write(entry, isSkipped: isSkipped, to: &$0) }
      }
      try flush(&buffer)
    }
    stream.end(in: &buffer.bytes)
  }

  private static func key(_ outcome: ValidationResult.Outcome) -> StaticString {
    switch outcome {
    case .unchanged: "unchanged"
    case .incomplete: "incomplete"
    case .changed: "changed"
    case .rolledBack: "rolled_back"
    case .gone: "gone"
    case .redirected: "redirected"
    case .noValidator: "no_validator"
    case .needsCredentials: "needs_credentials"
    case .notAsked: "not_asked"
    case .failed: "failed"
    }
  }

  private func write(
    _ entry: RevalidationPlan.Entry, isSkipped: Bool, to json: inout JSONWriter
  ) {
    json.member(id: entry.version.id)
    json.member("url", url: entry.url, secrets)
    json.member("outcome", entry.outcome.rawValue)
    // A set has another order in each run.
    let deciders = ValidatorComparison.Decider.allCases.filter { entry.sent.contains($0) }
    // Nothing was sent for an entry that cannot be validated.
    json.member("sent", entry.wasAsked ? deciders.map(\.rawValue) : [])
    json.member("status", entry.response?.head.status)
    json.member("decided_by", entry.decider?.rawValue)
    json.member("saved_bytes", entry.savedBytes)
    // The target of a redirect comes from a server and may contain a token, as URLs of sign-on
    // pages do.
    json.member("location", url: entry.location, secrets)
    json.member("reason", entry.reason?.code)
    json.member("message", entry.reason?.words(status: entry.response?.head.status))
    // Without its credentials a server may well send something else, so nothing was sent.
    json.member("withheld_credentials", [.withheld, .unsendable].contains(entry.credentials))
    json.member("action", isSkipped ? "skipped" : entry.action.rawValue)
    json.member("hindrance", entry.skipReason?.rawValue)
    json.member("misfit", entry.misfit?.rawValue)
  }
}
