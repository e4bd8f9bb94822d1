public import Administration
import Bytes
import HTTPCaching
import ResponseStorage

extension ExplanationRenderer {
  /// Appends an explanation for people: the verdict, the reason, and the details behind it.
  public func appendText(_ explanation: Explanation, into buffer: inout TextBuffer) {
    appendVerdict(explanation, into: &buffer)
    appendEntry(explanation, into: &buffer)
    if let details = explanation.details {
      appendLifetime(details, into: &buffer)
      appendAge(details, explanation.inquiry, into: &buffer)
      appendFreshness(by: explanation.inquiry.platform.rules, details, into: &buffer)
      appendExpiry(details.expiry, explanation.inquiry, into: &buffer)
      appendDirectives(details, into: &buffer)
      appendVary(details, into: &buffer)
      appendValidators(details.validators, into: &buffer)
      appendReceived(details, into: &buffer)
      appendStorability(details.storability, into: &buffer)
      appendFieldFindings(details, into: &buffer)
      appendRequest(explanation, details, into: &buffer)
    }
    appendPolicies(explanation, into: &buffer)
    if let configured = explanation.configured { append(configured, into: &buffer) }
    appendHints(explanation.hints, into: &buffer)
  }

  private func appendVerdict(_ explanation: Explanation, into buffer: inout TextBuffer) {
    buffer.append(explanation.state.words.uppercased(), as: explanation.state?.emphasis)
    let freshness = explanation.freshness
    switch explanation.state {
    case .fresh:
      if let end = freshness?.expiresAtSeconds, let remaining = freshness?.remainingSeconds {
        buffer.append(" for \(AgeText.words(seconds: remaining))")
        buffer.append(moment: end, after: ", until ")
      }
    case .stale:
      if hasEnded(explanation), let end = freshness?.expiresAtSeconds,
        let remaining = freshness?.remainingSeconds
      {
        buffer.append(
          " for \(AgeText.words(seconds: max(0, Int64(0).saturatingSubtracting(remaining))))")
        buffer.append(moment: end, after: ", since ")
      }
    case .noLifetime, nil: break
    }
    buffer.append(": \(consequence(of: explanation))\n")
    if let reason = explanation.reasons.first {
      buffer.append("  because ")
      buffer.append(reason, of: explanation, secrets)
      if let section = reason.section { buffer.append(" (\(section))") }
      buffer.append("\n")
    }
    buffer.append("\n")
  }

  /// Whether a response was fresh and became stale at a known time.
  private func hasEnded(_ explanation: Explanation) -> Bool {
    guard let details = explanation.details else { return false }
    return details.reuse.freshness.lifetime.seconds > 0 || explanation.isExpiredByApplication
  }

  private func consequence(of explanation: Explanation) -> String {
    switch explanation.outcome {
    case .cache:
      let decision = explanation.details?.decision
      if decision?.isRevalidatedMeanwhile
        ?? (explanation.details?.reuse.decision == .useWhileRevalidating
          && explanation.inquiry.policy == .useProtocolCachePolicy)
      {
        return "served from the cache while it is revalidated"
      }
      return "served from the cache"
    case .conditional:
      return explanation.details?.conditional.purpose == .completion
        ? "completed from the server before use"
        : "validated with the server before use"
    case .load:
      let removes =
        explanation.lookup?.isAnswer != false && explanation.details?.decision?.removes ?? false
      return removes ? "downloaded again, and the entry is removed" : "downloaded again"
    // `returnCacheDataDontLoad` fails instead of loading, as when the app is meant to be offline.
    case .error: return "an error, without a request"
    case .unknown: return "cannot tell whether it is used"
    }
  }

  private func appendEntry(_ explanation: Explanation, into buffer: inout TextBuffer) {
    buffer.append(title: "Entry")
    buffer.append(explanation.id.short)
    buffer.append("\n")
    buffer.append(title: "URL")
    buffer.append(shown: explanation.url.map { secrets.url($0, for: .people) } ?? "-")
    buffer.append("\n")
    guard let lookup = explanation.lookup else { return }
    buffer.append(title: "Requested URL")
    buffer.append(shown: secrets.url(lookup.asked, for: .people))
    buffer.append("\n")
    buffer.append(title: "Cache key")
    buffer.append(shown: lookup.shownKey)
    buffer.append(
      !lookup.isAnswer
        ? "   differs from the key of the requested URL\n"
        : lookup.isRedirected ? "   differs from the key of its URL\n" : "   the same for both\n")
  }

  private func appendLifetime(_ details: Explanation.Details, into buffer: inout TextBuffer) {
    let lifetime = details.reuse.freshness.lifetime
    buffer.append(title: "Freshness lifetime")
    // A lifetime of 0 seconds was declared by somebody. No lifetime at all is something else.
    buffer.append(lifetime.source == .none ? "none" : spanText(lifetime.seconds))
    switch lifetime.basis {
    case .maxAge(let seconds): buffer.append("   Cache-Control: max-age=\(seconds)")
    case .invalidMaxAge(let text):
      buffer.append("   Cache-Control: max-age=")
      buffer.append(quoted: text)
      buffer.append(" is not a number")
    case .expires(let end, let date):
      buffer.append(moment: end, after: "   Expires ")
      buffer.append(moment: date, after: " - \(details.exchange.dateName) ")
    case .invalidExpires(let text):
      buffer.append("   Expires: ")
      buffer.append(quoted: text)
      buffer.append(" is not a date")
    case .heuristic(let modified, let date):
      let span = max(0, date.saturatingSubtracting(modified))
      // Called a guess, because RFC 9111 §4.2.2 leaves heuristics to each cache, and Apple's is not
      // documented.
      buffer.append("   heuristic: 10% of the \(spanText(span))")
      buffer.append(moment: modified, after: " from Last-Modified ")
      buffer.append(" to the \(details.exchange.dateName)")
    case .none: buffer.append("   no max-age, no Expires, no heuristic")
    }
    buffer.append("   \(lifetime.section)\n")
  }

  private func appendAge(
    _ details: Explanation.Details, _ inquiry: Inquiry, into buffer: inout TextBuffer
  ) {
    let age = details.reuse.freshness.age
    buffer.append(title: "Current age")
    buffer.append(spanText(age.seconds))
    buffer.append("   \(Section(rfc: 9111, "4.2.3"))\n")
    buffer.append(title: "  =")
    buffer.append("max(apparent \(age.apparentAge) s, Age \(age.ageValue) s")
    buffer.append(" + delay \(age.responseDelay) s) + resident \(age.residentTime) s\n")
    buffer.append(title: "  Date")
    switch details.exchange.date {
    // A recipient with a clock replaces a missing Date by the time of receipt (RFC 9110 §6.6.1).
    case .absent: buffer.append("none; using the time it was stored")
    case .date(let seconds): buffer.append(moment: seconds, after: "")
    case .invalid(let text):
      buffer.append(quoted: text)
      buffer.append(" is not a date; using the time it was stored")
    }
    buffer.append("\n")
    buffer.append(title: "  Age")
    switch age.ageField {
    case .absent: buffer.append("none; using 0 s")
    case .seconds(let seconds): buffer.append("\(seconds) s")
    case .invalid(let text):
      buffer.append(quoted: text)
      buffer.append(" is not a number; using 0 s")
    }
    buffer.append("\n")
    buffer.append(title: "  stored")
    buffer.append(moment: details.exchange.responseTime, after: "")
    // RFC 9111 §4.2.3 adds the time that the response took. Neither kind of cache stores when its
    // request was sent.
    buffer.append("   the time of the request is not stored, so the delay is 0 s\n")
    buffer.append(title: "  now")
    buffer.append(time: inquiry.now)
    buffer.append("\n")
  }

  /// Appends the lifetime and the age by which a platform with rules of its own decides.
  private func appendFreshness(
    by rules: any PlatformRules, _ details: Explanation.Details, into buffer: inout TextBuffer
  ) {
    guard let name = rules.name, let freshness = details.decision?.freshness else { return }
    buffer.append(title: "\(name)'s lifetime")
    buffer.append("\(spanText(freshness.lifetime))   \(freshness.source.words)\n")
    buffer.append(title: "\(name)'s age")
    buffer.append("\(spanText(freshness.age))   max(stored - Date, Age, 0) + (now - stored)\n")
  }

  private func appendExpiry(
    _ expiry: UserInfoExpiry?, _ inquiry: Inquiry, into buffer: inout TextBuffer
  ) {
    guard let expiry else { return }
    buffer.append(title: "App's own expiry")
    buffer.append(shown: expiry.rule.key)
    buffer.append(" ")
    buffer.append(time: expiry.date)
    buffer.append(" + \(spanText(expiry.rule.seconds)): ")
    let age = inquiry.now.wholeSeconds.saturatingSubtracting(expiry.date.wholeSeconds)
    buffer.append(expiry.isValid(at: inquiry.now) ? "valid" : "expired")
    buffer.append(" at \(age) s\n")
  }

  private func appendFieldFindings(_ details: Explanation.Details, into buffer: inout TextBuffer) {
    var isFirst = true
    for finding in details.fieldFindings {
      // These remarks are shown next to the number that they are about.
      switch finding.kind {
      case .invalidMaxAge, .invalidExpires, .invalidDate, .invalidAge, .longHeuristic,
        .clockSetBack:
        continue
      default: break
      }
      buffer.append(title: isFirst ? "Headers" : "")
      isFirst = false
      if let field = finding.field {
        buffer.append([field])
        buffer.append(" ")
      }
      if !finding.value.isEmpty {
        let name = ByteString(finding.field?.lowercased ?? [])
        let value = ByteString(finding.value)
        buffer.append(
          quoted: secrets.showSecrets ? value.bytes : Mask.headerValue(value, named: name).bytes)
        buffer.append(" ")
      }
      buffer.append("\(finding.kind.words)   \(finding.section)\n")
    }
  }
}

extension Exchange {
  /// The name of the time that is used as the date of the response.
  fileprivate var dateName: String { date.secondsSince1970 == nil ? "time it was stored" : "Date" }
}

extension TextBuffer {
  /// The width of the column of titles.
  private static let titleWidth = 21

  /// Appends the title of a line, and pads it to the column width.
  mutating func append(title: String) {
    append(title)
    append(UInt8(ascii: " "), count: Self.titleWidth - title.utf8.count)
  }

  /// Appends a time in seconds since 1970, after some words; nothing if it is outside the calendar.
  mutating func append(moment seconds: Int64, after words: String) {
    guard let time = Timestamp(secondsSince1970: Double(seconds)) else { return }
    append(words)
    append(time: time)
  }
}
