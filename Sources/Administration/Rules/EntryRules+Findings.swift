import Matching
import ResponseStorage

extension Finding.Code {
  static let neverByRule = Self(
    "never-by-rule", .warning, "the configuration forbids storing it; 'enforce' removes it")
  static let memoryOnlyByRule = Self(
    "memory-only-by-rule", .warning,
    "the configuration allows it only in memory, but the app stored it on disk")
}

extension EntryRules {
  /// Returns the finding on a response that a rule says not to store on disk; `nil` if there is none.
  func finding(
    on response: borrowing StoredResponse
  ) throws(RegularExpression.Overrun) -> Finding? {
    guard let verdict = try verdict(on: response) else { return nil }
    let code: Finding.Code
    switch verdict.fate {
    case .never: code = .neverByRule
    case .memoryOnly: code = .memoryOnlyByRule
    // These are about how long an entry stays. That it was stored is no finding.
    case .keep, .purge, .expire, .limit: return nil
    }
    let name = all[Int(verdict.rule) - 1].name.map { " '\($0)'" } ?? ""
    return Finding(
      code, "matched by rule \(verdict.rule)\(name)", id: response.id, url: response.url)
  }
}
