import Administration
import Bytes
import HTTPCaching

extension TextBuffer {
  /// Appends the reason for an outcome, for people.
  mutating func append(
    _ reason: Explanation.Reason, of explanation: Explanation, _ secrets: SecretPolicy
  ) {
    switch reason {
    case .undecodable: append("the store does not tell its header fields, or when it was stored")
    case .expiredByApplication(let expiry):
      append("the app's own expiry has passed: ")
      append(shown: expiry.rule.key)
      append(" + \(expiry.rule.seconds) s")
    case .policy(let policy): append("the policy \(policy.name) decides, and not its age")
    // "Observed", because no documentation says so, and another version may behave differently.
    case .foundationUses(nil):
      append("observed: Foundation on Linux uses it for ever, as it has no max-age and no Expires")
    case .foundationUses: append("observed: Foundation on Linux uses it until max-age has passed")
    case .foundationRefuses(let refusal):
      append("observed: Foundation on Linux does not use it, as \(refusal.words)")
    case .reuse(let reason):
      guard let details = explanation.details else { return }
      append(reason, of: details, secrets)
    }
  }

  private mutating func append(
    _ reason: ReuseReason, of details: Explanation.Details, _ secrets: SecretPolicy
  ) {
    switch reason {
    case .otherTarget: append("it was stored for another URL")
    case .otherMethod: append("it answered a method that no stored response answers")
    case .varyNever: append("Vary: * matches no request")
    case .varyDiffers(let differences):
      append("Vary: ")
      for (index, difference) in differences.enumerated() {
        if index > 0 { append("; ") }
        append(difference.name, stored: difference.stored, presented: difference.presented, secrets)
      }
    case .varyUnknown(let names):
      append("Vary: ")
      append(names)
      append(", and the fields of its request are not stored")
    case .incomplete(.start(let bytes)):
      append("only the first \(bytes) bytes of its body are stored")
    case .incomplete: append("only a part of its body is stored")
    case .responseNoCache:
      append(comparison: details.reuse.freshness)
      // Without the freshness, a user would look for a lifetime that is too short, and lengthening
      // it would not help.
      append(details.reuse.freshness.isFresh ? ", but " : ", and ")
      append("no-cache has it validated every time")
    case .requestNoCache: append("the request says Cache-Control: no-cache")
    case .requestPragma: append("the request says Pragma: no-cache")
    case .tooOld(let age, let limit):
      append("the request wants none older than \(limit) s, and its age is \(age) s")
    // With both numbers, since which of them is wrong is what a developer has to find out.
    case .notFreshEnough(let remaining, let limit):
      append("the request wants it fresh for \(limit) s more, and it is for \(remaining) s")
    case .staleMustRevalidate:
      append(comparison: details.reuse.freshness)
      append(", and must-revalidate forbids its use")
    case .tooStale(let seconds, let limit):
      append("it is stale for \(seconds) s, and the request permits \(limit) s")
    case .stale, .fresh: append(comparison: details.reuse.freshness)
    case .noLifetime(let reason):
      append("nothing says how long it is fresh: no max-age, no Expires, and \(reason.words)")
    case .maxStalePermits(let seconds):
      append("it is stale for \(seconds) s, which the max-stale of the request permits")
    case .revalidatesMeanwhile:
      append(comparison: details.reuse.freshness)
      append(", but stale-while-revalidate lets it be used meanwhile")
    }
  }

  /// Appends how the age of a response compares to its lifetime.
  private mutating func append(comparison freshness: Freshness) {
    switch freshness.lifetime.basis {
    case .invalidMaxAge(let text):
      append("max-age is no number: ")
      append(quoted: text)
    case .invalidExpires(let text):
      append("Expires is no date: ")
      append(quoted: text)
    case .none: append("it has no lifetime")
    case .maxAge, .expires, .heuristic:
      append("its age of \(freshness.age.seconds) s is ")
      append(freshness.isFresh ? "less" : "not less")
      append(" than its lifetime of \(freshness.lifetime.seconds) s")
    }
  }

  /// Appends the stored and the presented value of a field that `Vary` names.
  mutating func append(
    _ name: FieldName, stored: [UInt8]?, presented: [UInt8]?, _ secrets: SecretPolicy
  ) {
    append([name])
    for (title, value) in [(" stored ", stored), (", presented ", presented)] {
      append(title)
      guard let value else {
        append("none")
        continue
      }
      let name = ByteString(name.lowercased)
      let shown =
        secrets.showSecrets ? value : Mask.headerValue(ByteString(value), named: name).bytes
      append(quoted: shown)
    }
  }

  /// Appends field names with each word capitalized.
  mutating func append(_ names: [FieldName]) {
    for (index, name) in names.enumerated() {
      if index > 0 { append(", ") }
      var isFirst = true
      append(
        shown: name.lowercased.map { byte in
          defer { isFirst = byte == UInt8(ascii: "-") }
          // Names are compared in lowercase, but people know them as `Cache-Control`.
          let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
          return isFirst && isLetter ? byte & ~0x20 : byte
        })
    }
  }

  /// Appends text from a cache in quotation marks.
  mutating func append(quoted text: [UInt8]) {
    append(UInt8(ascii: "\""))
    append(shown: text)
    append(UInt8(ascii: "\""))
  }
}

extension FreshnessLifetime.NoLifetime {
  /// The reason, for people.
  fileprivate var words: String {
    switch self {
    case .status: "a response of its status has no guessed lifetime"
    case .noLastModified: "no Last-Modified to guess from"
    case .invalidLastModified: "a Last-Modified that is no date"
    }
  }
}

extension FoundationReuse.Refusal {
  /// The reason, for people.
  var words: String {
    switch self {
    case .otherKey: "its key is that of another URL"
    case .challenge: "it has WWW-Authenticate or Proxy-Authenticate"
    case .authorization: "the request has Authorization or Proxy-Authorization"
    case .method: "the request is neither GET nor HEAD"
    case .bodyForHead: "the request is HEAD and there is a body"
    case .noCache: "it says no-cache"
    case .noStore: "it says no-store"
    case .maxAge: "its max-age has passed since it was stored"
    case .status: "its status is none of those that are used"
    case .vary: "it has a Vary"
    case .expires: "it has an Expires and no max-age, and no date can be read there"
    }
  }
}

/// Returns a number of seconds, with its largest unit in parentheses: `3600 s (60 min)`.
func spanText(_ seconds: Int64) -> String {
  // The exact number is what the header fields say, so that the two can be compared.
  seconds < 120 ? "\(seconds) s" : "\(seconds) s (\(AgeText.text(seconds: seconds)))"
}
