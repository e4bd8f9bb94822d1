import Administration
import Bytes
import HTTPCaching
import JSON

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
