import HTTPCaching
import ResponseStorage

extension Finding.Code {
  static let partialBody = Self(
    "partial-body", .warning,
    "the download may have been interrupted; the app gets only the stored part")
  static let otherLength = Self(
    "other-length", .note, "apps that store re-encoded JSON cause this")
  static let noCacheWithoutValidator = Self(
    "no-cache-without-validator", .note,
    "it is downloaded again for every use, so storing it saves nothing")
}

extension EntryCheck {
  /// Returns the findings on the length of a body, and on storing a response at all: a code and a message each.
  static func findings(
    of exchange: borrowing Exchange, _ response: borrowing StoredResponse
  ) -> [(Finding.Code, String)] {
    var findings: [(Finding.Code, String)] = []
    // `no-cache` with field names only withholds these fields. Without names, the whole response is
    // validated before each use (RFC 9111 §5.2.2.4), which is pointless without a validator.
    if case .wholeResponse? = exchange.directives.noCache, Validators(of: exchange).isEmpty {
      findings.append(
        (.noCacheWithoutValidator, "the response has 'no-cache' but no validator"))
    }
    switch BodyCompleteness(of: exchange, response) {
    case .whole: break
    // `URLCache` returns whatever bytes are stored, so an app takes a part for the whole.
    case .partial where exchange.status == 206:
      findings.append((.partialBody, "its status is 206, so only part of the body is stored"))
    case .partial:
      findings.append((.partialBody, "its body is shorter than its 'Content-Length'"))
    // An app that parses JSON and stores it again makes it shorter, and leaves `Content-Length` as
    // it was received. So this is no sign of a download that was cut off.
    case .rewritten:
      findings.append((.otherLength, "its body is shorter than its 'Content-Length'"))
    case .longer:
      findings.append((.otherLength, "its body is longer than its 'Content-Length'"))
    }
    return findings
  }
}
