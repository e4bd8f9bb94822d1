public import Administration
import Bytes
import HTTPCaching
import JSON
import ResponseStorage

/// Renders why a cache has no response for a URL.
public struct MissingResponseRenderer: Sendable {
  /// Which secrets the output may contain.
  public var secrets: SecretPolicy

  /// Creates a renderer.
  public init(secrets: SecretPolicy) {
    self.secrets = secrets
  }

  /// Appends the answer for people, verdict first.
  public func appendText(_ missing: MissingResponse, into buffer: inout TextBuffer) {
    buffer.append(missing.verdict)
    buffer.append("\n")
    if missing.present.isEmpty, let reason = missing.reasons.first {
      buffer.append("  because \(reason.rule)")
      // What Apple documents, what was observed, and what a specification requires are not equally
      // certain, so each reason names its source.
      if let source = reason.section?.description ?? reason.evidence {
        buffer.append(" (\(source))")
      }
      buffer.append("\n")
    }
    buffer.append("\n")
    buffer.append(title: "URL")
    buffer.append(shown: secrets.url(missing.url, for: .people))
    buffer.append("\n")
    if let key = missing.key {
      buffer.append(title: "Cache key")
      buffer.append(shown: key)
      buffer.append("\n")
    }
    append(missing.present, title: "Entries", into: &buffer)
    for (index, lookup) in missing.lookups.enumerated() {
      buffer.append(title: index == 0 ? "Stored for" : "")
      buffer.append(shown: lookup.stored.map { secrets.url($0, for: .people) } ?? "-")
      // Foundation's key leaves out the query. An answer that was stored for another query may be
      // another user's.
      buffer.append(lookup.differsByQuery ? "   may be meant for another user\n" : "\n")
    }
    append(missing.underOtherKeys, title: "Under other keys", into: &buffer)
    for (index, url) in missing.near.enumerated() {
      buffer.append(title: index == 0 ? "Similar URLs" : "")
      buffer.append(shown: secrets.url(url, for: .people))
      buffer.append("\n")
    }
    buffer.append(title: "May be stored")
    if let storability = missing.storability {
      buffer.append(storability.mayStore ? "yes: " : "no: ")
      buffer.append("\(storability.reason.words)   \(storability.reason.section)\n")
    } else {
      // Whether a response may be stored depends on its header fields, and nothing is stored of one
      // that is missing.
      buffer.append("unknown: give the response headers with --headers-from\n")
    }
    for (index, reason) in missing.reasons.enumerated() {
      buffer.append(title: index == 0 ? "Not stored because" : "")
      buffer.append(reason.words)
      if let section = reason.section { buffer.append("   \(section)") }
      buffer.append("\n")
    }
    // With an entry there, the outcomes depend on its freshness, which `explain` of that entry
    // shows.
    if missing.present.isEmpty { appendPolicies(missing, into: &buffer) }
  }

  private func append(
    _ ids: [StoredResponse.ID], title: String, into buffer: inout TextBuffer
  ) {
    for (index, id) in ids.enumerated() {
      buffer.append(title: index == 0 ? title : "")
      buffer.append(id.short)
      buffer.append("\n")
    }
  }

  private func appendPolicies(_ missing: MissingResponse, into buffer: inout TextBuffer) {
    var table = TextTable([
      .init(title: "POLICY", alignment: .right), .init(title: "NAME"),
      .init(title: "OUTCOME WITHOUT AN ENTRY"),
    ])
    for (name, policy) in RequestCachePolicy.names {
      let words = missing.outcome(of: policy) == .error ? "error, no request" : "full request"
      table.append([String(policy.rawValue), name, words].map { Array($0.utf8) })
    }
    buffer.append("\n")
    table.append(to: &buffer)
  }

  /// Appends the answer as a JSON object.
  public func appendJSON(_ missing: MissingResponse, into buffer: inout TextBuffer) {
    buffer.writeJSON(schema: "explain-missing") { json in
      json.member("url", url: missing.url, secrets)
      json.member("platform", missing.inquiry.platform.rawValue)
      json.array("present") { $0.values(missing.present) }
      if let key = missing.key {
        json.member("key", utf8OrBase64: key)
        json.array("stored_for") { write(missing.lookups.compactMap(\.stored), to: &$0) }
        json.array("under_other_keys") { $0.values(missing.underOtherKeys) }
      }
      json.array("near") { write(missing.near, to: &$0) }
      // `null` if it is not known, which is neither yes nor no to a program.
      json.member("would_be_stored", missing.wouldBeStored)
      json.array("reasons", objects: missing.reasons) {
        $0.member("code", $1.code)
        $0.member("section", $1.section)
        $0.member("message", $1.words)
      }
      json.array("policies", objects: RequestCachePolicy.names) { json, named in
        json.member("name", named.0)
        json.member("number", named.1.rawValue)
        json.member("outcome", missing.outcome(of: named.1).rawValue)
      }
    }
  }

  private func write(_ urls: [ByteString], to json: inout JSONWriter) {
    for url in urls { json.utf8OrBase64(secrets.url(url, for: .programs).bytes) }
  }
}

extension JSONWriter {
  fileprivate mutating func values(_ ids: [StoredResponse.ID]) {
    for id in ids {
      switch id {
      case .row(let row): value(row)
      case .file(let name): utf8OrBase64(name.bytes)
      }
    }
  }
}

extension MissingResponse {
  /// The answer for people, on one line.
  fileprivate var verdict: String {
    if !lookups.isEmpty {
      return
        "PRESENT: the cache answers this URL with the entry for another URL; run 'explain' on that entry"
    }
    // In a Foundation cache, an entry can have the URL and still not be found by it, because its
    // key is that of another one.
    if !present.isEmpty { return "PRESENT: an entry has this URL; run 'explain' on it" }
    return switch wouldBeStored {
    case true?: "MISSING: it could be stored"
    case false?: "MISSING: it would not be stored"
    case nil: "MISSING: cannot tell whether it would be stored"
    }
  }
}

extension MissingResponse.Reason {
  /// The rule for people, preceded by its source if that is not a section of a specification.
  var words: String { evidence.map { "\($0): \(rule)" } ?? rule }

  /// The source of a rule that is in no specification; `nil` for other rules.
  var evidence: String? {
    switch self {
    case .scheme, .smallCapacity, .specified: nil
    case .status, .largeBody: "documented by Apple"
    case .foundationRefuses, .foundationStoresNothing: "observed"
    case .webKitRefuses: "in WebKit"
    }
  }

  /// The rule for people, as a clause.
  var rule: String {
    switch self {
    case .scheme: "only responses to http and https requests are stored"
    case .smallCapacity: "with a capacity below 5 MiB, CFNetwork does not write the cache to disk"
    case .specified(let reason): reason.words
    case .status: "only statuses from 200 to 299 are stored"
    case .largeBody(let limit):
      "a body larger than about 5% of the capacity (\(limit) bytes) is not stored"
    case .foundationRefuses(let refusal):
      "Foundation on Linux does not use it, because \(refusal.words)"
    case .foundationStoresNothing:
      "URLSession on Linux stores nothing itself; the app must call storeCachedResponse"
    case .webKitRefuses(let refusal): refusal.words
    }
  }
}
