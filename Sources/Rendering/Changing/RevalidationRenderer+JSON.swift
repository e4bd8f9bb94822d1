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
  ///   - skipped: The entries that were left alone because they had changed.
  ///   - store: The cache before the run.
  public func appendJSON(
    _ plan: RevalidationPlan, skipped: Set<StoredResponse.ID>, of store: StoreDescription,
    into buffer: inout TextBuffer
  ) {
    buffer.writeJSON(schema: "revalidate") {
      $0.member("dry_run", isDryRun)
      $0.member("cache", store)
      $0.member("asked", plan.askedCount)
      for outcome in ValidationResult.Outcome.allCases {
        $0.member(Self.key(outcome), plan.count(outcome))
      }
      $0.member("saved_bytes", plan.savedBytes)
      $0.array("entries", .lines, objects: plan.entries) { json, entry in
        let isSkipped = skipped.contains(entry.result.request.version.id)
        write(entry, isSkipped: isSkipped, to: &json)
      }
    }
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
    case .notAsked: "not_asked"
    case .failed: "failed"
    }
  }

  private func write(
    _ entry: RevalidationPlan.Entry, isSkipped: Bool, to json: inout JSONWriter
  ) {
    let result = entry.result
    let request = result.request
    json.member(id: request.version.id)
    json.member("url", url: request.url, secrets)
    json.member("outcome", result.outcome.rawValue)
    // A set has another order in each run.
    let deciders = ValidatorComparison.Decider.allCases.filter { request.sent.contains($0) }
    // Nothing was sent for an entry that cannot be validated.
    json.member("sent", request.skipReason == nil ? deciders.map(\.rawValue) : [])
    json.member("status", result.response?.head.status)
    json.member("decided_by", result.decider?.rawValue)
    json.member("saved_bytes", result.savedBytes)
    // The target of a redirect comes from a server and may contain a token, as URLs of sign-on
    // pages do.
    json.member("location", url: result.location, secrets)
    json.member("reason", result.reason?.code)
    json.member("message", result.reason?.words(after: result))
    // Without its credentials, a server may well send something else. The outcome then says little,
    // and programs should know.
    json.member("withheld_credentials", request.withholdsCredentials)
    json.member("action", isSkipped ? "skipped" : entry.action.rawValue)
    json.member("hindrance", entry.skipReason?.rawValue)
    json.member("misfit", result.misfit?.rawValue)
  }
}
