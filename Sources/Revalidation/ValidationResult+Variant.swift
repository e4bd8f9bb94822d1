import Fetching
import HTTPCaching
import ResponseStorage

extension ValidationResult {
  /// Whether the answer may be another variant than the stored response: it was asked for without something that
  /// the stored one was chosen by, or that the answer is chosen by (RFC 9110 §12.5.5).
  ///
  /// `Accept-Encoding` chooses between codings of the same body, and what is stored has none.
  var mayBeOtherVariant: Bool {
    guard let stored = request.exchange, let response, case .success(let sent) = request.request
    else { return false }
    if request.withholdsCredentials { return true }
    // A file of Foundation's says nothing of the request.
    let isRequestKnown = if case .file = request.version.id { false } else { true }
    // The record is about what the stored response names, and the answer may name more.
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
  /// The fields that differ, or that are not known.
  fileprivate var doubtful: [FieldName] {
    switch self {
    case .nothingNominated, .never, .matches: []
    case .differs(let differences): differences.map(\.name)
    case .unknown(let names): names
    }
  }
}
