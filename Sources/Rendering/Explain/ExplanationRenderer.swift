public import Administration
import Bytes
import HTTPCaching
public import JSON
public import ResponseStorage

// Without the cache and the time: it is copied to several threads, which explain one entry each.
/// Renders why stored responses are reused or not.
public struct ExplanationRenderer: Sendable {
  /// Which secrets the output may contain.
  public var secrets: SecretPolicy

  /// Creates a renderer.
  public init(secrets: SecretPolicy) {
    self.secrets = secrets
  }
}

extension ExplanationRenderer {
  /// Begins the JSON object for several explanations.
  ///
  /// - Returns: The stream for the explanations, each written with ``write(_:_:to:)``. ``endJSON(_:_:into:)`` ends it.
  public func beginJSON(
    of store: StoreDescription, asking inquiry: Inquiry, into buffer: inout TextBuffer
  ) -> JSONStream {
    var json = JSONStream(.hostileText)
    json.begin("entries", in: &buffer.bytes) {
      $0.member(schema: "explain")
      $0.member("cache", store)
      $0.member("at", inquiry.now)
      $0.member("platform", inquiry.platform.rawValue)
      $0.member("policy", inquiry.policy.name)
    }
    return json
  }

  /// Ends the object with the number of entries of each freshness state; `nil` counts entries whose freshness is
  /// unknown.
  public func endJSON(
    _ json: inout JSONStream, _ counts: [ResponseFreshness.State?: Int64],
    into buffer: inout TextBuffer
  ) {
    json.end(in: &buffer.bytes) {
      $0.member("fresh", counts[.fresh] ?? 0)
      $0.member("stale", counts[.stale] ?? 0)
      $0.member("no_lifetime", counts[.noLifetime] ?? 0)
      $0.member("unknown", counts[nil] ?? 0)
    }
  }

  /// Appends an explanation as a JSON object on one line.
  ///
  /// - Parameter policies: Reusable texts for the policies of previous responses.
  public func appendJSON(
    _ explanation: Explanation, _ policies: inout PolicyTexts, into buffer: inout TextBuffer
  ) {
    buffer.writeJSON { json in
      write(explanation, &policies, to: &json)
      json.endLine()
    }
  }

  /// Writes an explanation as a JSON object.
  ///
  /// - Parameter policies: Reusable texts for the policies of previous responses.
  public func write(
    _ explanation: Explanation, _ policies: inout PolicyTexts, to json: inout JSONWriter
  ) {
    json.object { json in
      json.member(id: explanation.id)
      json.member("url", url: explanation.url, secrets)
      if let lookup = explanation.lookup {
        json.object("lookup") { json in
          json.member("url", url: lookup.asked, secrets)
          json.member("key", utf8OrBase64: lookup.shownKey)
          json.member("answered", lookup.isAnswer)
        }
      }
      if let configured = explanation.configured { write(configured, to: &json) }
      json.member("verdict", word: explanation.state.word)
      // Apart from the verdict, because a stale response may be used and a fresh one may not.
      json.member("reusable", explanation.isReusable)
      // All of them, although the first one decides: removing only that often changes nothing.
      json.array("reasons", objects: explanation.reasons) { json, reason in
        json.member("code", word: reason.code)
        json.member("section", reason.section)
      }
      if let details = explanation.details {
        write(details, &policies, of: explanation, to: &json)
      } else {
        writeUnknown(&policies, of: explanation, to: &json)
      }
    }
  }

  private func write(
    _ details: Explanation.Details, _ policies: inout PolicyTexts, of explanation: Explanation,
    to json: inout JSONWriter
  ) {
    write(freshness: details, to: &json)
    if let freshness = details.decision?.freshness {
      json.object("platform_freshness") { json in
        json.member("lifetime_seconds", freshness.lifetime)
        json.member("lifetime_source", word: freshness.source.rawValue)
        json.member("current_age_seconds", freshness.age)
      }
    }
    write(details.exchange.directives.control, to: &json)
    write(details.reuse.vary, details, to: &json)
    json.object("storable") { json in
      json.member("may_store", details.storability.mayStore)
      json.member("reason", word: details.storability.reason.rawValue)
      json.member("section", details.storability.reason.section)
    }
    write(details.validators, to: &json)
    json.member("needs_revalidation", details.reuse.decision == .validate)
    write(conditional: details, of: explanation, to: &json)
    json.array("policies") { policies.write(explanation, to: &$0) }
    write(explanation.hints, to: &json)
    write(details.expiry, at: explanation.inquiry.now, to: &json)
    write(details.reuse.staleUse, to: &json)
    json.array("remarks", objects: details.fieldFindings) { json, finding in
      json.member("code", word: finding.kind.rawValue)
      json.key("field")
      json.utf8OrBase64(finding.field?.lowercased)
      json.key("value")
      json.utf8OrBase64(finding.value)
      json.member("seconds", finding.seconds)
      json.member("section", finding.section)
    }
    write(received: details, to: &json)
  }

  /// Writes the same members for a response of which too little is known.
  private func writeUnknown(
    _ policies: inout PolicyTexts, of explanation: Explanation, to json: inout JSONWriter
  ) {
    json.null("freshness")
    json.object("directives") { _ in }
    json.null("vary")
    json.null("storable")
    json.array("validators") { _ in }
    json.null("needs_revalidation")
    json.null("conditional_request")
    json.array("policies") { policies.write(explanation, to: &$0) }
    write(explanation.hints, to: &json)
    json.null("user_info_expiry")
    json.null("stale_use")
    json.array("remarks") { _ in }
    json.null("received")
    // Every explanation has the same members, whatever is known, so that programs can rely on them.
    json.null("resume_headers")
  }

  private func write(_ hints: [Hint], to json: inout JSONWriter) {
    json.array("hints", objects: hints) { json, hint in
      json.member("code", word: hint.code)
      json.member("message", word: hint.words)
    }
  }

  private func write(
    _ expiry: UserInfoExpiry?, at now: Timestamp, to json: inout JSONWriter
  ) {
    guard let expiry else { return json.null("user_info_expiry") }
    json.object("user_info_expiry") { json in
      json.key("key")
      json.utf8OrBase64(expiry.rule.key.bytes)
      json.member("seconds", expiry.rule.seconds)
      json.member("date", expiry.date)
      json.member("valid", expiry.isValid(at: now))
    }
  }
}

/// The members of explanations about freshness and reuse.
extension ExplanationRenderer {
  func write(freshness details: Explanation.Details, to json: inout JSONWriter) {
    let freshness = details.freshness
    let (lifetime, age) = (freshness.freshness.lifetime, freshness.freshness.age)
    let isFresh = freshness.state == .fresh
    json.object("freshness") { json in
      json.member("lifetime_seconds", freshness.lifetimeSeconds)
      json.member("lifetime_source", word: lifetime.source.rawValue)
      json.member("lifetime_section", lifetime.section)
      json.member("current_age_seconds", age.seconds)
      // The terms of RFC 9111 §4.2.3 one by one, as an unexpected age is usually one wrong term.
      json.object("age") { json in
        json.member("apparent_seconds", age.apparentAge)
        json.member("age_value_seconds", age.ageValue)
        json.member("delay_seconds", age.responseDelay)
        json.member("resident_seconds", age.residentTime)
      }
      json.member("fresh", isFresh)
      // As a time as well as in seconds, because programs that compare with their own clock would
      // otherwise have to know when this was computed.
      json.member("expires_at", freshness.expiresAt)
      json.member(
        "stale_seconds",
        isFresh
          // Saturating, because a cache can contain any lifetime and date.
          ? nil : freshness.remainingSeconds.map { max(0, Int64(0).saturatingSubtracting($0)) })
    }
  }

  func write(_ control: CacheControl, to json: inout JSONWriter) {
    json.object("directives") { json in
      for (index, directive) in control.directives.enumerated() {
        // If a directive is repeated, only the first applies.
        if control.directives[..<index].contains(where: { $0.name == directive.name }) { continue }
        json.key(named: directive.name.rawValue)
        switch directive.argument {
        case nil: json.value(true)
        // As it is: what a server sent by mistake is what its operator needs to see.
        case .malformed(let text): json.utf8OrBase64(text)
        case .token(let text), .quoted(let text):
          if directive.name.takesSeconds, case .seconds(let seconds) = DeltaSeconds(text) {
            json.value(seconds)
          } else {
            json.utf8OrBase64(text)
          }
        }
      }
    }
  }

  func write(
    _ match: VaryMatch, _ details: Explanation.Details, to json: inout JSONWriter
  ) {
    json.object("vary") { json in
      if case .nothingNominated = match {
        json.member("match", word: "nothing")
        return json.array("fields") { _ in }
      }
      json.member("match", word: match.word)
      let sent = details.exchange.varyRecord ?? details.exchange.request?.fields
      json.array("fields", objects: match.names) { json, name in
        json.key("name")
        json.utf8OrBase64(name.lowercased)
        let stored = sent?.shownValue(of: name, secrets)
        json.key("stored")
        json.utf8OrBase64(stored)
        json.key("presented")
        // Most requests repeat the stored value, and masking secrets takes time.
        let isRepeated = sent?.values(of: name) == details.request.fields.values(of: name)
        json.utf8OrBase64(
          isRepeated ? stored : details.request.fields.shownValue(of: name, secrets))
      }
    }
  }

  func write(_ use: StaleUse, to json: inout JSONWriter) {
    json.object("stale_use") { json in
      json.member("prohibited_by", use.prohibition?.rawValue)
      write(use.whileRevalidating, named: "while_revalidating", to: &json)
      write(use.ifError, named: "if_error", to: &json)
    }
  }

  private func write(
    _ window: StaleUse.Window?, named name: StaticString, to json: inout JSONWriter
  ) {
    guard let window else { return json.null(name) }
    json.object(name) { json in
      json.member("state", word: window.word)
      json.member("seconds", window.seconds)
    }
  }
}

/// The members of explanations about the next request.
extension ExplanationRenderer {
  func write(_ validators: Validators, to json: inout JSONWriter) {
    json.array("validators") { json in
      if let tag = validators.entityTag {
        json.object { json in
          json.member("type", word: "etag")
          json.key("value")
          json.utf8OrBase64(tag.verbatim)
          // Only a strong validator can be used to complete a body (RFC 9110 §8.8.1).
          json.member("strong", tag.isStrong)
          json.null("time")
          json.member(weaknessesOf: .entityTag, in: validators.fieldFindings)
        }
      }
      if let date = validators.lastModified {
        json.object { json in
          json.member("type", word: "last-modified")
          json.key("value")
          json.utf8OrBase64(date.verbatim)
          json.member("strong", date.isStrong)
          json.member("time", Timestamp(secondsSince1970: Double(date.secondsSince1970)))
          json.member(weaknessesOf: .lastModified, in: validators.fieldFindings)
        }
      }
    }
  }

  func write(
    conditional details: Explanation.Details, of explanation: Explanation,
    to json: inout JSONWriter
  ) {
    let request = details.conditional.unconditional
    json.object("conditional_request") { json in
      json.key("method")
      json.utf8OrBase64(request.method)
      json.member("purpose", word: details.conditional.purpose.rawValue)
      json.object("headers") { json in
        write(
          FieldSection(request.fields.lines.filter { !explanation.isStoredCredential($0) }),
          to: &json)
        for line in details.conditional.conditions { json.member(line.name, line.value) }
      }
      json.member("needs_credentials", explanation.credentials != .none)
      json.object("credential_headers") { json in
        write(FieldSection(details.exchange.credentials), to: &json)
      }
    }
  }

  private func write(_ fields: FieldSection, to json: inout JSONWriter) {
    for (index, line) in fields.lines.enumerated() {
      let name = FieldName(of: line)
      // A member of an object can be there only once, so repeated lines are joined, as RFC 9110
      // §5.3 allows.
      if fields.lines[..<index].contains(where: { name.matches($0) }) { continue }
      json.member(line.name, fields.shownValue(of: name, secrets) ?? [])
    }
  }

  /// Writes how much of the body is stored, and the header fields that would request the rest, for any client.
  func write(received details: Explanation.Details, to json: inout JSONWriter) {
    if let body = details.received {
      json.object("received") { json in
        json.member("bytes", body.bytes)
        json.member("announced", body.announced)
      }
    } else {
      json.null("received")
    }
    guard details.conditional.purpose == .completion else { return json.null("resume_headers") }
    json.object("resume_headers") { json in
      for line in details.conditional.conditions { json.member(line.name, line.value) }
    }
  }
}

extension JSONWriter {
  /// Writes a string, an object with one member for bytes that are not UTF-8, or `null`.
  mutating func utf8OrBase64(_ text: [UInt8]?) {
    if let text { utf8OrBase64(text) } else { null() }
  }

  /// Writes a header field.
  fileprivate mutating func member(_ name: [UInt8], _ value: [UInt8]) {
    key(utf8OrBase64: ByteString(name))
    utf8OrBase64(value)
  }

  /// Writes the remarks that make a validator weak.
  fileprivate mutating func member(weaknessesOf field: FieldName, in fieldFindings: [FieldFinding])
  {
    array("weaknesses") { json in
      for finding in fieldFindings where finding.field == field { json.word(finding.kind.rawValue) }
    }
  }
}

extension ExplanationRenderer {
  /// Appends the settings that apply to an entry, for people.
  func append(_ configured: Explanation.Configured, into buffer: inout TextBuffer) {
    buffer.append(title: "Class")
    buffer.append(shown: ByteString(configured.entryClass))
    buffer.append("\n")
    guard let revalidation = configured.revalidation else { return }
    buffer.append(title: "Revalidation due")
    buffer.append("after \(AgeText.words(seconds: Int64(revalidation.after)))")
    buffer.append(" by rule \(revalidation.rule): ")
    if let isDue = revalidation.isDue, let age = revalidation.age {
      let left = Int64(abs(age - revalidation.after))
      buffer.append("\(isDue ? "due for" : "due in") \(AgeText.words(seconds: left))")
    } else {
      buffer.append("its age is unknown")
    }
    buffer.append("\n")
  }

  /// Writes the member `configured` of an explanation.
  func write(_ configured: Explanation.Configured, to json: inout JSONWriter) {
    json.object("configured") { json in
      json.member("class", configured.entryClass)
      json.member("revalidate_after", configured.revalidation.map { Int64($0.after) })
      // `null` if no rule says it, or if the age of the entry is not known.
      json.member("revalidation_due", configured.revalidation?.isDue)
    }
  }
}
