import Administration
import Bytes
import HTTPCaching
import ResponseStorage

/// The rules about a single response that are not about its secrets.
struct ResponseAudit: Sendable {
  /// The settings of the audit.
  let options: CacheAudit.Options

  init(_ options: CacheAudit.Options) { self.options = options }

  /// Returns the findings on a response.
  func findings(on response: borrowing StoredResponse) -> [AuditFinding] {
    var findings: [AuditFinding] = []
    checkURL(of: response, &findings)
    checkBody(of: response, &findings)
    let explanation = Explanation(of: response, asking: inquiry(), withHints: false)
    // Without header fields or a time, nothing is known about caching.
    guard let details = explanation.details else { return findings }
    checkSharing(of: response, details, &findings)
    checkStoring(details, &findings)
    checkStatus(details, &findings)
    checkFields(details, &findings)
    checkLifetime(details, &findings)
    return findings
  }

  /// Returns the question whether a request is answered from the cache.
  ///
  /// - Parameter fields: The credentials of the request.
  func inquiry(with fields: [FieldLine] = []) -> Inquiry {
    var inquiry = Inquiry(now: options.now, platform: options.platform)
    inquiry.expiryRules = options.expiryRules
    inquiry.fields = fields
    return inquiry
  }

  private func checkBody(
    of response: borrowing StoredResponse, _ findings: inout [AuditFinding]
  ) {
    guard let size = response.bodySize else { return }
    if let capacity = options.capacity, size.bytes > capacity.bytes / 20 {
      findings.append(AuditFinding(.largeBody, .body))
    }
    if Self.isUncompressed(response, size) {
      findings.append(AuditFinding(.uncompressed, .body, detail: response.mimeType))
    }
  }

  /// The least size of text that is worth compressing: it fits into two packets.
  private static let worthCompressing: ByteCount = 2_048

  private static func isUncompressed(
    _ response: borrowing StoredResponse, _ size: ByteCount
  ) -> Bool {
    guard size >= worthCompressing, let headers = response.responseHeaders,
      headers.firstValue(named: "content-encoding") == nil,
      let type = response.mimeType?.asciiLowercased.bytes
    else { return false }
    return type.starts(with: "text/".utf8)
      || ["json", "xml", "javascript", "ecmascript", "svg+xml"].contains { word in
        type.reversed().starts(with: word.utf8.reversed())
      }
  }
}
