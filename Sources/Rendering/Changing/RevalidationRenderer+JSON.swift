import Bytes
import Fetching
import HTTPCaching
public import ResponseStorage
public import Revalidation

extension RevalidationRenderer {
  /// Appends one JSON object, with every entry.
  ///
  /// - Parameters:
  ///   - skipped: The entries with which nothing was done, as they had changed.
  ///   - store: The cache, as it was before.
  public func appendJSON(
    _ plan: RevalidationPlan, skipped: Set<StoredResponse.ID>, of store: StoreDescription,
    into buffer: inout TextBuffer
  ) {
    buffer.append("{\"schema\":\"urlcache-admin.revalidate/1\",\"dry_run\":\(isDryRun),\"cache\":")
    buffer.append(json: store)
    buffer.append(",\"asked\":")
    buffer.append(integer: Int64(plan.askedCount))
    for outcome in ValidationResult.Outcome.allCases {
      buffer.append(",\"\(Self.key(outcome))\":")
      buffer.append(integer: Int64(plan.count(outcome)))
    }
    buffer.append(",\"saved_bytes\":")
    buffer.append(plain: plan.savedBytes)
    buffer.append(",\"entries\":[")
    for (index, entry) in plan.entries.enumerated() {
      buffer.append(index == 0 ? "\n" : ",\n")
      append(
        entry, isSkipped: skipped.contains(entry.result.request.version.id), into: &buffer)
    }
    buffer.append(plan.entries.isEmpty ? "]}\n" : "\n]}\n")
  }

  private static func key(_ outcome: ValidationResult.Outcome) -> String {
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

  private func append(
    _ entry: RevalidationPlan.Entry, isSkipped: Bool, into buffer: inout TextBuffer
  ) {
    let result = entry.result
    let request = result.request
    buffer.append("{\"id\":")
    buffer.append(json: request.version.id)
    buffer.append(",\"url\":")
    buffer.append(
      json: request.url.map { secrets.url($0, for: .programs) }, orBase64Named: "url")
    buffer.append(",\"outcome\":")
    buffer.append(json: result.outcome.rawValue)
    buffer.append(",\"sent\":")
    let deciders = ValidatorComparison.Decider.allCases.filter { request.sent.contains($0) }
    buffer.append(json: request.obstacle == nil ? deciders.map(\.rawValue) : [])
    buffer.append(",\"status\":")
    buffer.append(json: result.response?.head.status)
    buffer.append(",\"decided_by\":")
    buffer.append(json: result.decider?.rawValue)
    buffer.append(",\"saved_bytes\":")
    buffer.append(plain: result.savedBytes)
    buffer.append(",\"location\":")
    buffer.append(
      json: result.location.map { secrets.url($0, for: .programs) }, orBase64Named: "location")
    buffer.append(",\"reason\":")
    buffer.append(json: result.reason?.code)
    buffer.append(",\"message\":")
    buffer.append(json: result.reason?.words(after: result))
    buffer.append(",\"withheld_credentials\":\(request.withholdsCredentials),\"action\":")
    buffer.append(json: isSkipped ? "skipped" : entry.action.rawValue)
    buffer.append(",\"hindrance\":")
    buffer.append(json: entry.hindrance?.rawValue)
    buffer.append(",\"misfit\":")
    buffer.append(json: result.misfit?.rawValue)
    buffer.append("}")
  }
}
