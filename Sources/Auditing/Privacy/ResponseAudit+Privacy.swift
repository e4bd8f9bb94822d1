import Administration
import Bytes
import HTTPCaching
import ResponseStorage

extension ResponseAudit {
  /// Checks whether the connection was encrypted.
  func checkURL(of response: borrowing StoredResponse, _ findings: inout [AuditFinding]) {
    guard let url = response.url ?? response.key, CanonicalURL.scheme(of: url) == "http" else {
      return
    }
    // Nobody listens on the loopback interface.
    if let host = CanonicalURL.host(of: url), Self.isLocal(host.bytes) { return }
    findings.append(AuditFinding(.clearText, .url))
    for name: StaticString in ["authorization", "proxy-authorization", "cookie"]
    where response.request.headers?.firstValue(named: name) != nil {
      findings.append(
        AuditFinding(
          .credentialsInClearText, .requestField(ByteString(stringLiteral: name))))
    }
  }

  private static func isLocal(_ host: [UInt8]) -> Bool {
    host.elementsEqual("localhost".utf8) || host.elementsEqual("::1".utf8)
      || host.starts(with: "127.".utf8)
      || host.reversed().starts(with: ".localhost".utf8.reversed())
  }

  /// Checks whether a response for one user answers the requests of another.
  func checkSharing(
    of response: borrowing StoredResponse, _ details: Explanation.Details,
    _ findings: inout [AuditFinding]
  ) {
    let (sent, directives) = (details.exchange.request?.fields, details.exchange.directives)
    // The server has marked it as the user's own; emptying the cache at sign-out is then up to the app.
    if directives.isPrivate == .wholeResponse { return }
    let hasAuthorization =
      sent?.contains(FieldName("authorization")) == true
      // A password in the URL is sent as `Authorization`.
      || response.request.headers?.firstValue(named: "authorization") != nil
    let hasCookie = response.request.headers?.firstValue(named: "cookie") != nil
    let setsCookie = response.responseHeaders?.firstValue(named: "set-cookie") != nil
    guard hasAuthorization || hasCookie || setsCookie else { return }
    // `public` says that everyone may have it (RFC 9111 §3.5), but nobody means the cookie.
    if hasAuthorization, !directives.isPublic, answers(response, sending: "authorization") {
      findings.append(AuditFinding(.authorizedShared))
    }
    if hasCookie, !directives.isPublic, !hasAuthorization, !Self.isStatic(response),
      answers(response, sending: "cookie")
    {
      findings.append(AuditFinding(.cookieShared))
    }
    if setsCookie, !Self.withholdsCookie(directives), answers(response, sending: "cookie") {
      findings.append(AuditFinding(.setCookieShared, .responseField("Set-Cookie")))
    }
  }

  /// Whether the stored response answers a request with the credentials of another user.
  private func answers(_ response: borrowing StoredResponse, sending name: String) -> Bool {
    // Where no request with `Authorization` is answered, a later one without it is.
    let isOther = options.platform.rules.answersAuthorized || name != "authorization"
    let other = FieldLine(name: Array(name.utf8), value: Array("another user".utf8))
    return Explanation(
      of: response, asking: inquiry(with: isOther ? [other] : []), withHints: false
    ).isReusable
  }

  /// Whether a response is a part of a page that hardly ever depends on the user.
  private static func isStatic(_ response: borrowing StoredResponse) -> Bool {
    let type = response.mimeType?.asciiLowercased.bytes ?? []
    return [
      "image/", "font/", "video/", "audio/", "text/css", "text/javascript", "application/font",
    ]
    .contains { type.starts(with: $0.utf8) }
      || type.elementsEqual("application/javascript".utf8)
      || type.elementsEqual("application/x-javascript".utf8)
  }

  private static func withholdsCookie(_ directives: ResponseDirectives) -> Bool {
    for scope in [directives.noCache, directives.isPrivate] {
      if case .fields(let names)? = scope, names.contains(FieldName("set-cookie")) { return true }
    }
    return false
  }

  /// Checks whether a response is stored although it must not be.
  func checkStoring(_ details: Explanation.Details, _ findings: inout [AuditFinding]) {
    switch details.storability.reason {
    case .responseNoStore:
      findings.append(AuditFinding(.storedNoStore, .responseField("Cache-Control")))
    case .requestNoStore:
      findings.append(AuditFinding(.storedNoStore, .requestField("Cache-Control")))
    default: break
    }
  }
}
