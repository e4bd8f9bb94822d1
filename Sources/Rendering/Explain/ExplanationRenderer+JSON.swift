public import Administration
import Bytes
import HTTPCaching
public import JSON
public import ResponseStorage

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
