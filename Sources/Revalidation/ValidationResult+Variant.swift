import Fetching
import HTTPCaching
import ResponseStorage

extension ValidationResult {
  /// Whether the response may be another variant than the stored one, because the request lacked a field that selected
  /// the stored response, or that selects the new one (RFC 9110 §12.5.5).
  ///
  /// `Accept-Encoding` only selects a coding of the same body, and stored bodies have none.
  var mayBeOtherVariant: Bool {
    guard let stored = request.exchange, let response, case .success(let sent) = request.request
    else { return false }
    // Servers send another page to those who are not logged in, often with the same date.
    if request.credentials == .unknown { return true }
    // A file of a Foundation cache does not contain the request.
    let isRequestKnown = if case .file = request.version.id { false } else { true }
    // The record covers the fields that the stored response names; the new response may name more.
    let answer = Exchange(
      request: isRequestKnown ? stored.request : nil, status: response.head.status,
      fields: response.head.fields, responseTime: response.responseTime)
    if !isRequestKnown, case .never = VaryMatch(answer, presented: sent.fields) { return true }
    let recorded: [FieldName] = if case .fields(let names) = stored.vary { names } else { [] }
    let doubtful =
      VaryMatch(stored, presented: sent.fields).doubtful
      + VaryMatch(answer, presented: sent.fields).doubtful.filter { !recorded.contains($0) }
    return doubtful.contains { $0 != "Accept-Encoding" }
  }
}

extension VaryMatch {
  /// The fields that differ or are unknown.
  fileprivate var doubtful: [FieldName] {
    switch self {
    case .nothingNominated, .never, .matches: []
    case .differs(let differences): differences.map(\.name)
    case .unknown(let names): names
    }
  }
}
