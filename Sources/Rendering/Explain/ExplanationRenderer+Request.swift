import Administration
import Bytes
import HTTPCaching

extension ExplanationRenderer {
  func appendDirectives(_ details: Explanation.Details, into buffer: inout TextBuffer) {
    let directives = details.exchange.directives.control.directives
    if directives.isEmpty { return }
    var named: Set<CacheDirective.Name> = []
    for (index, directive) in directives.enumerated() {
      buffer.append(title: index == 0 ? "Directives" : "")
      buffer.append(directive.name.rawValue)
      if let text = directive.argument?.text {
        buffer.append("=")
        buffer.append(shown: text)
      }
      let isFirst = named.insert(directive.name).inserted
      let meaning =
        // RFC 9111 §4.2.1 lets a cache use the first of several values or consider the response
        // stale.
        !isFirst && directive.name == .maxAge
        ? "ignored: only the first one counts"
        : meaning(of: directive.name, details)
      if !meaning.isEmpty { buffer.append(" (\(meaning))") }
      buffer.append("\n")
    }
  }

  private func meaning(of name: CacheDirective.Name, _ details: Explanation.Details) -> String {
    let reuse = details.reuse
    return switch name {
    // RFC 8246 §2 is about reloads by the user.
    case .immutable: "while fresh, need not be validated even when the user reloads"
    case .mustRevalidate: "once stale, must not be used without validation, even offline"
    case .mustUnderstand: "may be stored only by caches that know the status"
    case .noCache where details.exchange.directives.noCache != .wholeResponse:
      "these fields must not be used without validation"
    case .noCache: "may be stored, but must be validated before each use"
    case .noStore: "must not be stored"
    case .noTransform: "must not be transformed by proxies"
    // A cache of an app is private in the sense of RFC 9111 §1: it serves one user.
    case .private: "for private caches, such as this one"
    case .public: "any cache may store it"
    case .proxyRevalidate, .sharedMaxAge: "for shared caches only"
    // RFC 5861 defines both windows as seconds after the response has become stale.
    case .staleIfError: meaning(of: reuse.staleUse.ifError)
    case .staleWhileRevalidate: meaning(of: reuse.staleUse.whileRevalidating)
    case .maxAge:
      reuse.freshness.lifetime.source == .maxAge ? "the lifetime" : "not a number, so stale"
    case .maxStale, .minFresh, .onlyIfCached: "meaningful only in requests"
    }
  }

  private func meaning(of window: StaleUse.Window?) -> String {
    switch window {
    case .ahead: "starts when the entry becomes stale"
    case .open(let remaining): "applies for another \(spanText(remaining))"
    case .closed(let since): "ended \(spanText(since)) ago"
    case .void(let prohibition): "overridden by \(prohibition.rawValue)"
    case .invalid, nil: "ignored: not a number"
    }
  }

  func appendVary(_ details: Explanation.Details, into buffer: inout TextBuffer) {
    let vary = details.reuse.vary
    if case .nothingNominated = vary { return }
    buffer.append(title: "Vary")
    switch vary {
    case .nothingNominated, .never: buffer.append("* matches no request\n")
    case .unknown(let names):
      buffer.append(names)
      buffer.append(": the request's fields are not stored\n")
    case .matches(let names): append(names, details, "matches", into: &buffer)
    case .differs(let differences):
      append(differences.map(\.name), details, "differs", into: &buffer)
    }
  }

  private func append(
    _ names: [FieldName], _ details: Explanation.Details, _ word: String,
    into buffer: inout TextBuffer
  ) {
    let stored = details.exchange.varyRecord ?? details.exchange.request?.fields
    for (index, name) in names.enumerated() {
      if index > 0 { buffer.append(title: "") }
      buffer.append(
        name, stored: stored?.shownValue(of: name, secrets),
        presented: details.request.fields.shownValue(of: name, secrets), secrets)
      buffer.append(": \(word)\n")
    }
  }

  func appendValidators(_ validators: Validators, into buffer: inout TextBuffer) {
    buffer.append(title: "Validators")
    if validators.isEmpty { buffer.append("none: \(FieldFinding.Kind.noValidator.words)\n") }
    if let tag = validators.entityTag {
      buffer.append("ETag ")
      buffer.append(shown: tag.verbatim)
      append(weaknesses: validators.fieldFindings, of: .entityTag, into: &buffer)
    }
    if let date = validators.lastModified {
      if validators.entityTag != nil { buffer.append(title: "") }
      buffer.append("Last-Modified ")
      buffer.append(shown: date.verbatim)
      append(weaknesses: validators.fieldFindings, of: .lastModified, into: &buffer)
    }
  }

  private func append(
    weaknesses fieldFindings: [FieldFinding], of field: FieldName, into buffer: inout TextBuffer
  ) {
    let words = fieldFindings.filter { $0.field == field }.map(\.kind.words)
    buffer.append(words.isEmpty ? " (strong)\n" : " (\(words.joined(separator: "; ")))\n")
  }

  /// Appends how much of the body is stored, if it is less than was announced.
  func appendReceived(_ details: Explanation.Details, into buffer: inout TextBuffer) {
    guard let body = details.received, body.bytes < body.announced else { return }
    buffer.append(title: "Body")
    buffer.append(integer: body.bytes)
    buffer.append(" of ")
    buffer.append(integer: body.announced)
    buffer.append(" bytes, \(body.wholePercent)%   \(Section(rfc: 9111, "3.3"))\n")
  }

  func appendStorability(_ storability: Storability, into buffer: inout TextBuffer) {
    buffer.append(title: "May be stored")
    buffer.append(storability.mayStore ? "yes: " : "no: ")
    buffer.append("\(storability.reason.words)   \(storability.reason.section)\n")
  }

  func appendRequest(
    _ explanation: Explanation, _ details: Explanation.Details, into buffer: inout TextBuffer
  ) {
    let policy = explanation.inquiry.policy
    let rules = explanation.inquiry.platform.rules
    buffer.append("\n")
    if let request = explanation.nextRequest {
      buffer.append("Next request under \(policy.name) (\(policy.rawValue)):\n")
      append(rules.validates ? request : details.conditional.request, explanation, into: &buffer)
    } else if explanation.outcome == .cache || explanation.outcome == .unknown {
      buffer.append(
        explanation.outcome == .cache
          ? "No request now. The next request would be:\n"
          : "It is unknown whether there is a request now. It would be:\n")
      append(details.conditional.request, explanation, into: &buffer)
    } else {
      buffer.append("No request now.\n")
      appendCompletion(explanation, details, into: &buffer)
      return
    }
    let isConditional =
      !rules.validates || [.conditional, .cache, .unknown].contains(explanation.outcome)
    if !rules.validates, let name = rules.name, !details.conditional.conditions.isEmpty {
      buffer.append("  by 'revalidate'; \(name) was observed to send no conditions\n")
    }
    buffer.append("  \(answers(to: isConditional ? details.conditional.purpose : .replacement))\n")
    appendCredentials(explanation, details, into: &buffer)
    if !isConditional { appendCompletion(explanation, details, into: &buffer) }
  }

  /// Appends what else `revalidate` sends, if the entry was stored with credentials.
  private func appendCredentials(
    _ explanation: Explanation, _ details: Explanation.Details, into buffer: inout TextBuffer
  ) {
    switch explanation.credentials {
    case .none: return
    case .unsendable:
      buffer.append(
        "  'revalidate' does not send it, as it was stored with credentials that cannot be sent\n")
      return
    case .sendable: buffer.append("  'revalidate' sends it only with '--with-credentials'")
    }
    let others = details.exchange.credentials.filter { explanation.isStoredCredential($0) }
    for (index, line) in others.enumerated() {
      buffer.append(index == 0 ? ", with the stored " : ", ")
      buffer.append(shown: line.name)
    }
    buffer.append("\n")
  }

  /// Appends the request for the rest of an incomplete body, if it is not the next request anyway.
  private func appendCompletion(
    _ explanation: Explanation, _ details: Explanation.Details, into buffer: inout TextBuffer
  ) {
    guard details.conditional.purpose == .completion else { return }
    buffer.append("\nRequest for the rest of the body:\n")
    append(details.conditional.request, explanation, into: &buffer)
    buffer.append("  \(answers(to: .completion))\n")
  }

  private func answers(to purpose: ConditionalRequest.Purpose) -> String {
    switch purpose {
    case .validation: "304: use the entry and update its headers   200: replace the entry"
    case .completion:
      "206: append the rest, if it belongs to the same body   200: replace the entry"
    case .replacement: "200: replace the entry (full download)"
    }
  }

  private func append(
    _ request: Request, _ explanation: Explanation, into buffer: inout TextBuffer
  ) {
    buffer.append("  ")
    buffer.append(shown: request.method)
    buffer.append(" ")
    let target = request.targetURI.map { ByteString($0) } ?? explanation.url
    buffer.append(shown: target.map { secrets.url($0, for: .people) } ?? "-")
    buffer.append("\n")
    for line in request.fields.lines where !explanation.isStoredCredential(line) {
      buffer.append("  ")
      buffer.append(shown: line.name)
      buffer.append(": ")
      let (name, value) = (ByteString(line.name), ByteString(line.value))
      buffer.append(shown: secrets.showSecrets ? value : Mask.headerValue(value, named: name))
      buffer.append("\n")
    }
  }

  func appendPolicies(_ explanation: Explanation, into buffer: inout TextBuffer) {
    var table = TextTable([
      .init(title: "POLICY", alignment: .right), .init(title: "NAME"), .init(title: "OUTCOME NOW"),
      .init(title: ""),
    ])
    for (name, policy) in RequestCachePolicy.names {
      let outcome = explanation.outcome(of: policy)
      let note = explanation.inquiry.platform.rules.versions(knowing: policy)
      table.append(
        [String(policy.rawValue), name, outcome.words(under: policy, explanation), note].map {
          Array($0.utf8)
        })
    }
    buffer.append("\n")
    table.append(to: &buffer)
  }

  func appendHints(_ hints: [Hint], into buffer: inout TextBuffer) {
    if hints.isEmpty { return }
    buffer.append("\nHints\n")
    for hint in hints {
      buffer.append(hint.isFinding ? "  ! " : "  i ")
      buffer.append("\(hint.words)\n")
    }
  }
}

extension FieldLine {
  /// A line that a policy adds, for people.
  fileprivate var text: String {
    String(decoding: name + Array(": ".utf8) + value, as: UTF8.self)
  }
}

extension RequestCachePolicy.Outcome {
  /// The outcome, for people.
  fileprivate func words(under policy: RequestCachePolicy, _ explanation: Explanation) -> String {
    switch self {
    case .cache:
      switch explanation.state {
      case .stale: return "cache, even though stale"
      case .noLifetime: return "cache, without a lifetime"
      case .fresh, nil: return "cache"
      }
    case .conditional: return "conditional request"
    case .load:
      let lines = explanation.inquiry.platform.rules.lines(addedBy: policy)
      return lines.isEmpty
        ? "full request" : "full request, with " + lines.map(\.text).joined(separator: ", ")
    case .error: return "error, no request"
    case .unknown: return "unknown"
    }
  }
}

extension Storability.Reason {
  /// The reason, for people.
  var words: String {
    switch self {
    case .methodNotUnderstood: "responses to its method are not stored"
    case .postWithoutLocation:
      "a response to POST is stored only with a lifetime and its own URL as Content-Location"
    case .unknownStatus: "its status is unknown"
    case .interimStatus: "its status is interim"
    case .notModified: "a 304 updates a stored response and is not stored itself"
    case .statusNotUnderstood: "it has must-understand and an unknown status"
    case .responseNoStore: "the response has no-store"
    case .requestNoStore: "the request has no-store"
    case .notPermitted:
      "nothing allows it: no public, private, Expires or max-age, and its status is not cacheable by default"
    case .isPublic: "it is public"
    case .isPrivate: "it is private, but so is this cache"
    case .expires: "it has Expires"
    case .maxAge: "it has max-age"
    case .status: "its status is cacheable by default"
    }
  }
}
