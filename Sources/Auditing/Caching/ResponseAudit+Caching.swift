import Administration
import Bytes
import HTTPCaching
import ResponseStorage

extension ResponseAudit {
  /// The tolerated difference between clocks, in seconds.
  private static let tolerance: Int64 = 300

  /// Checks what is stored that is no answer to a GET.
  func checkStatus(_ details: Explanation.Details, _ findings: inout [AuditFinding]) {
    if let request = details.exchange.request, !request.isGet, !request.isHead {
      findings.append(AuditFinding(.postAnswer, detail: ByteString(request.method)))
    }
    guard let status = details.exchange.status else { return }
    switch status {
    case 300..<400 where status != 304:
      findings.append(AuditFinding(.redirectKept, detail: ByteString("status \(status)")))
    case 400..<600:
      findings.append(AuditFinding(.errorKept, detail: ByteString("status \(status)")))
    default: break
    }
  }

  /// Checks the fields and directives, by the remarks of `explain`.
  func checkFields(_ details: Explanation.Details, _ findings: inout [AuditFinding]) {
    let all = details.fieldFindings + details.validators.fieldFindings
    var seen: Set<FieldFinding> = []
    for finding in all where seen.insert(finding).inserted {
      guard let rule = Self.rule(for: finding), let field = finding.field else { continue }
      let name = ByteString(Array(field.lowercased))
      let place: AuditPlace =
        finding.kind == .invalidRequestDirective ? .requestField(name) : .responseField(name)
      findings.append(AuditFinding(rule, place, detail: ByteString(finding.value)))
    }
    let directives = details.exchange.directives
    let field = AuditPlace.responseField("cache-control")
    if directives.isPublic, directives.isPrivate != nil {
      findings.append(AuditFinding(.contradictory, field, detail: "public, private"))
    }
    if directives.noStore, !directives.mustUnderstand, directives.maxAge?.value ?? 0 > 0 {
      findings.append(AuditFinding(.contradictory, field, detail: "no-store, max-age"))
    }
    checkDates(details, &findings)
  }

  private static func rule(for finding: FieldFinding) -> AuditRule? {
    switch finding.kind {
    case .onlyFirstCounts: return .contradictory
    case .unknownDirective: return .unknownDirective
    case .originClockAhead:
      return finding.seconds.map { $0 > tolerance } ?? false ? .futureDate : nil
    // Servers write these numbers to say that it has expired, and caches understand that.
    case .invalidExpires:
      let isNumber = finding.value.allSatisfy { $0.isASCIIDigit || $0 == UInt8(ascii: "-") }
      return isNumber ? nil : .malformed
    case .invalidMaxAge, .invalidDate, .invalidLastModified, .invalidAge, .wrongWeekday,
      .malformedDirective, .unclosedQuote, .malformedEntityTag, .invalidRequestDirective:
      return .malformed
    case .forSharedCachesOnly, .overriddenByMaxAge, .responsePragma, .clockSetBack,
      .longHeuristic, .overriddenByCacheControl, .fieldsToWithhold, .noStoreVoid,
      .rollbackUndetectable, .weakValidator, .noValidator:
      return nil
    }
  }

  private func checkDates(_ details: Explanation.Details, _ findings: inout [AuditFinding]) {
    let exchange = details.exchange
    if case .date(let modified) = exchange.freshnessFields.lastModified,
      modified > exchange.dateValue.saturatingAdding(Self.tolerance)
    {
      findings.append(
        AuditFinding(
          .futureDate, .responseField("last-modified"),
          detail: exchange.fields.firstValue(of: FieldName("last-modified")).map { ByteString($0) })
      )
    }
    if exchange.responseTime > options.now.wholeSeconds.saturatingAdding(Self.tolerance) {
      findings.append(AuditFinding(.futureDate, detail: "stored in the future"))
    }
  }

  /// Checks how long a response is used, and what happens then.
  func checkLifetime(_ details: Explanation.Details, _ findings: inout [AuditFinding]) {
    let (exchange, directives) = (details.exchange, details.exchange.directives)
    // A server that forbids storing or using it has nothing to add, and errors have rules of their own.
    guard !directives.noStore, let status = exchange.status, (200..<300).contains(status) else {
      return
    }
    let hasValidator = !details.validators.isEmpty
    if case .anything = exchange.vary {
      findings.append(AuditFinding(.weakReuse, .responseField("vary"), detail: "*"))
    } else if directives.noCache == .wholeResponse, !hasValidator {
      findings.append(
        AuditFinding(.weakReuse, .responseField("cache-control"), detail: "no-cache, no validator"))
      return
    }
    if !hasValidator, exchange.bodyBytes ?? 0 > 0 { findings.append(AuditFinding(.noValidator)) }
    switch details.reuse.freshness.lifetime.source {
    case .none where directives.noCache == nil: findings.append(AuditFinding(.noLifetime))
    case .heuristic where directives.noCache == nil: findings.append(AuditFinding(.heuristic))
    default: break
    }
  }
}
