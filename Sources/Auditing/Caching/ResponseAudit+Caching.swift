import Administration
import Bytes
import Files
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

/// Finds entries whose URLs differ only by parameters that identify a visitor or a campaign.
struct TrackingDuplicates {
  private var urls = EqualURLs()

  /// Adds an entry.
  mutating func insert(
    _ url: ByteString, id: StoredResponse.ID, size: ByteCount
  ) throws(FileError) {
    if let short = Self.withoutTracking(url) {
      try urls.insert(ByteString(short), of: url, id, size: size)
    } else {
      try urls.insert(url)
    }
  }

  /// Removes all entries, and calls `body` with the findings, in the order of the first entries.
  mutating func removeAll(_ body: (AuditFinding) throws -> Void) throws {
    try urls.removeAll { group in
      // One copy is not wasted.
      let wasted = group.hasShortURL ? group.bytes : group.bytes - group.largest
      let count = group.entries + (group.hasShortURL ? 1 : 0)
      var finding = AuditFinding(
        .duplicates, .url, detail: ByteString("\(count) entries"), bytes: wasted)
      (finding.id, finding.url) = (group.id, group.url)
      finding.host = CanonicalURL.host(of: group.url)
      finding.count = count
      try body(finding)
    }
  }

  /// Returns a URL without tracking parameters; `nil` if it has none.
  static func withoutTracking(_ url: ByteString) -> [UInt8]? {
    let parts = URLParts(url.bytes)
    guard let query = parts.query else { return nil }
    let all = query.split(separator: UInt8(ascii: "&"))
    let kept = all.filter { !isTracking($0.prefix { $0 != UInt8(ascii: "=") }) }
    guard kept.count < all.count else { return nil }
    var result = Array(url.bytes[..<parts.path.endIndex])
    if !kept.isEmpty { result += [UInt8(ascii: "?")] + kept.joined(separator: [UInt8(ascii: "&")]) }
    return result
  }

  private static func isTracking(_ name: ArraySlice<UInt8>) -> Bool {
    name.starts(with: "utm_".utf8) || names.contains(ByteString(name.map(\.asciiLowercased)))
  }

  private static let names: Set<ByteString> = [
    "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "fbclid", "msclkid", "yclid", "twclid",
    "ttclid",
    "li_fat_id", "igshid", "mc_cid", "mc_eid", "_ga", "_gl", "_hsenc", "_hsmi", "mkt_tok",
    "vero_id", "oly_anon_id", "oly_enc_id", "s_cid", "rb_clickid", "wickedid", "_openstat",
    // Numbers that defeat caches.
    "cachebuster", "cache_buster", "cachebust", "nocache", "_nocache", "rnd", "rand",
  ]
}
