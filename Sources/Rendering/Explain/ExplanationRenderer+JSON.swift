public import Administration
import Bytes
import HTTPCaching
public import ResponseStorage

extension ExplanationRenderer {
  /// Appends what comes before the first of several explanations in one JSON object.
  public func beginJSON(
    of store: StoreDescription, asking inquiry: Inquiry, into buffer: inout TextBuffer
  ) {
    buffer.append("{\"schema\":\"urlcache-admin.explain/1\",\"cache\":")
    buffer.append(json: store)
    buffer.append(",\"at\":")
    buffer.append(json: inquiry.now)
    buffer.append(",\"platform\":\"\(inquiry.platform.rawValue)\",\"policy\":\"")
    buffer.append("\(inquiry.policy.name)\",\"entries\":[")
  }

  /// Appends what comes after the last explanation: how many entries have which freshness, under `nil` those
  /// of which it is not known.
  public func finishJSON(
    _ counts: [ResponseFreshness.State?: Int64], into buffer: inout TextBuffer
  ) {
    buffer.append(counts.values.contains { $0 > 0 } ? "\n]" : "]")
    let members: KeyValuePairs<String, ResponseFreshness.State?> = [
      "fresh": .fresh, "stale": .stale, "no_lifetime": .noLifetime, "unknown": nil,
    ]
    for (name, state) in members {
      buffer.append(",\"\(name)\":")
      buffer.append(integer: counts[state] ?? 0)
    }
    buffer.append("}\n")
  }

  /// Appends an explanation as a JSON object.
  ///
  /// - Parameter policies: What was written of the policies of other responses.
  public func appendJSON(
    _ explanation: Explanation, _ policies: inout PolicyTexts, into buffer: inout TextBuffer
  ) {
    buffer.append("{\"id\":")
    switch explanation.id {
    case .row(let row): buffer.append(integer: row)
    case .file(let name): buffer.append(json: name, orBase64Named: "id")
    }
    buffer.append(",\"url\":")
    append(url: explanation.url, into: &buffer)
    if let lookup = explanation.lookup {
      buffer.append(",\"lookup\":{\"url\":")
      append(url: lookup.asked, into: &buffer)
      buffer.append(",\"key\":")
      buffer.append(json: lookup.shownKey, orBase64Named: "key")
      buffer.append(",\"answered\":\(lookup.isAnswer)}")
    }
    append(jsonOf: explanation.configured, into: &buffer)
    buffer.append(",\"verdict\":\"")
    buffer.append(explanation.state.word)
    buffer.append(
      explanation.isReusable
        ? "\",\"reusable\":true,\"reasons\":[" : "\",\"reusable\":false,\"reasons\":[")
    append(explanation.reasons, into: &buffer)
    guard let details = explanation.details else {
      buffer.append(
        "],\"freshness\":null,\"directives\":{},\"vary\":null,\"storable\":null,\"validators\":[]")
      buffer.append(",\"needs_revalidation\":null,\"conditional_request\":null,\"policies\":[")
      policies.append(explanation, into: &buffer)
      append(explanation.hints, into: &buffer)
      buffer.append(",\"user_info_expiry\":null,\"stale_use\":null,\"remarks\":[]")
      buffer.append(",\"received\":null,\"resume_headers\":null}")
      return
    }
    append(freshness: details, into: &buffer)
    append(details.exchange.directives.control, into: &buffer)
    append(details.reuse.vary, details, into: &buffer)
    append(details.storability, into: &buffer)
    append(details.validators, into: &buffer)
    buffer.append(
      details.reuse.decision == .validate
        ? ",\"needs_revalidation\":true,\"conditional_request\":"
        : ",\"needs_revalidation\":false,\"conditional_request\":")
    append(conditional: details, into: &buffer)
    buffer.append(",\"policies\":[")
    policies.append(explanation, into: &buffer)
    append(explanation.hints, into: &buffer)
    append(details.expiry, at: explanation.inquiry.now, into: &buffer)
    append(details.reuse.staleUse, into: &buffer)
    append(details.remarks, into: &buffer)
    buffer.append(UInt8(ascii: "]"))
    append(received: details, into: &buffer)
    buffer.append(UInt8(ascii: "}"))
  }

  private func append(url: ByteString?, into buffer: inout TextBuffer) {
    guard let url else { return buffer.append("null") }
    let shown = secrets.url(url, for: .programs)
    // The name of a member is needed only for what is not UTF-8.
    if !buffer.append(json: shown.bytes) { buffer.append(json: shown, orBase64Named: "url") }
  }

  private func append(_ reasons: [Explanation.Reason], into buffer: inout TextBuffer) {
    for (index, reason) in reasons.enumerated() {
      buffer.append(index == 0 ? "{\"code\":\"" : ",{\"code\":\"")
      buffer.append(reason.code)
      buffer.append("\",\"section\":")
      buffer.append(section: reason.section)
      buffer.append(UInt8(ascii: "}"))
    }
  }

  private func append(
    freshness details: Explanation.Details, into buffer: inout TextBuffer
  ) {
    let freshness = details.freshness
    let (lifetime, age) = (freshness.freshness.lifetime, freshness.freshness.age)
    let isFresh = freshness.state == .fresh
    buffer.append("],\"freshness\":{\"lifetime_seconds\":")
    buffer.append(json: freshness.lifetimeSeconds)
    buffer.append(",\"lifetime_source\":\"")
    buffer.append(lifetime.source.rawValue)
    buffer.append("\",\"lifetime_section\":")
    buffer.append(section: lifetime.section)
    buffer.append(",\"current_age_seconds\":")
    buffer.append(integer: age.seconds)
    buffer.append(",\"age\":{\"apparent_seconds\":")
    buffer.append(integer: age.apparentAge)
    buffer.append(",\"age_value_seconds\":")
    buffer.append(integer: age.ageValue)
    buffer.append(",\"delay_seconds\":")
    buffer.append(integer: age.responseDelay)
    buffer.append(",\"resident_seconds\":")
    buffer.append(integer: age.residentTime)
    buffer.append(
      isFresh ? "},\"fresh\":true,\"expires_at\":" : "},\"fresh\":false,\"expires_at\":")
    buffer.append(json: freshness.expiresAt)
    buffer.append(",\"stale_seconds\":")
    buffer.append(
      json: isFresh
        ? nil : freshness.remainingSeconds.map { max(0, Int64(0).saturatingSubtracting($0)) })
    buffer.append("},\"directives\":{")
  }

  private func append(_ control: CacheControl, into buffer: inout TextBuffer) {
    for (index, directive) in control.directives.enumerated() {
      // The first of a name is the one that counts.
      if control.directives[..<index].contains(where: { $0.name == directive.name }) { continue }
      if index > 0 { buffer.append(UInt8(ascii: ",")) }
      buffer.append(UInt8(ascii: "\""))
      buffer.append(directive.name.rawValue)
      buffer.append("\":")
      switch directive.argument {
      case nil: buffer.append("true")
      case .malformed(let text): buffer.append(jsonOrBase64: text)
      case .token(let text), .quoted(let text):
        if directive.name.takesSeconds, case .seconds(let seconds) = DeltaSeconds(text) {
          buffer.append(integer: seconds)
        } else {
          buffer.append(jsonOrBase64: text)
        }
      }
    }
  }

  private func append(
    _ match: VaryMatch, _ details: Explanation.Details, into buffer: inout TextBuffer
  ) {
    if case .nothingNominated = match {
      return buffer.append("},\"vary\":{\"match\":\"nothing\",\"fields\":[]}")
    }
    buffer.append("},\"vary\":{\"match\":\"")
    buffer.append(match.word)
    buffer.append("\",\"fields\":[")
    let sent = details.exchange.varyRecord ?? details.exchange.request?.fields
    for (index, name) in match.names.enumerated() {
      buffer.append(index == 0 ? "{\"name\":" : ",{\"name\":")
      buffer.append(jsonOrBase64: name.lowercased)
      let stored = sent?.shownValue(of: name, secrets)
      buffer.append(",\"stored\":")
      buffer.append(jsonOrBase64: stored)
      buffer.append(",\"presented\":")
      // Most requests repeat the stored one, and to look for secrets takes time.
      let isRepeated = sent?.values(of: name) == details.request.fields.values(of: name)
      buffer.append(
        jsonOrBase64: isRepeated ? stored : details.request.fields.shownValue(of: name, secrets))
      buffer.append(UInt8(ascii: "}"))
    }
    buffer.append("]}")
  }

  private func append(_ storability: Storability, into buffer: inout TextBuffer) {
    buffer.append(
      storability.mayStore
        ? ",\"storable\":{\"may_store\":true,\"reason\":\""
        : ",\"storable\":{\"may_store\":false,\"reason\":\"")
    buffer.append(storability.reason.rawValue)
    buffer.append("\",\"section\":")
    buffer.append(section: storability.reason.section)
    buffer.append(UInt8(ascii: "}"))
  }

  private func append(_ hints: [Hint], into buffer: inout TextBuffer) {
    buffer.append("],\"hints\":[")
    for (index, hint) in hints.enumerated() {
      buffer.append(index == 0 ? "{\"code\":\"" : ",{\"code\":\"")
      buffer.append(hint.code)
      buffer.append("\",\"message\":\"")
      // Words and numbers of our own, which need no escapes.
      buffer.append(hint.words)
      buffer.append("\"}")
    }
    buffer.append(UInt8(ascii: "]"))
  }

  private func append(
    _ expiry: UserInfoExpiry?, at now: Timestamp, into buffer: inout TextBuffer
  ) {
    guard let expiry else { return buffer.append(",\"user_info_expiry\":null") }
    buffer.append(",\"user_info_expiry\":{\"key\":")
    buffer.append(jsonOrBase64: expiry.rule.key.bytes)
    buffer.append(",\"seconds\":")
    buffer.append(integer: expiry.rule.seconds)
    buffer.append(",\"date\":")
    buffer.append(json: expiry.date)
    buffer.append(expiry.isValid(at: now) ? ",\"valid\":true}" : ",\"valid\":false}")
  }

  private func append(_ use: StaleUse, into buffer: inout TextBuffer) {
    buffer.append(",\"stale_use\":{\"prohibited_by\":")
    if let prohibition = use.prohibition {
      buffer.append(UInt8(ascii: "\""))
      buffer.append(prohibition.rawValue)
      buffer.append(UInt8(ascii: "\""))
    } else {
      buffer.append("null")
    }
    buffer.append(",\"while_revalidating\":")
    append(use.whileRevalidating, into: &buffer)
    buffer.append(",\"if_error\":")
    append(use.ifError, into: &buffer)
    buffer.append("},\"remarks\":[")
  }

  private func append(_ window: StaleUse.Window?, into buffer: inout TextBuffer) {
    guard let window else { return buffer.append("null") }
    buffer.append("{\"state\":\"")
    buffer.append(window.word)
    buffer.append("\",\"seconds\":")
    buffer.append(json: window.seconds)
    buffer.append(UInt8(ascii: "}"))
  }

  private func append(_ remarks: [Remark], into buffer: inout TextBuffer) {
    for (index, remark) in remarks.enumerated() {
      buffer.append(index == 0 ? "{\"code\":\"" : ",{\"code\":\"")
      buffer.append(remark.kind.rawValue)
      buffer.append("\",\"field\":")
      if let field = remark.field {
        buffer.append(jsonOrBase64: field.lowercased)
      } else {
        buffer.append("null")
      }
      buffer.append(",\"value\":")
      buffer.append(jsonOrBase64: remark.value)
      buffer.append(",\"seconds\":")
      buffer.append(json: remark.seconds)
      buffer.append(",\"section\":")
      buffer.append(section: remark.section)
      buffer.append(UInt8(ascii: "}"))
    }
  }
}
