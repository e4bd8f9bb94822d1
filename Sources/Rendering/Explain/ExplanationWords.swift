import Bytes
import HTTPCaching

extension VaryMatch {
  /// The match as a word for programs.
  var word: String {
    switch self {
    case .nothingNominated: "nothing"
    case .matches: "matches"
    case .never: "never"
    case .differs: "differs"
    case .unknown: "unknown"
    }
  }

  /// The fields that were compared.
  var names: [FieldName] {
    switch self {
    case .nothingNominated, .never: []
    case .matches(let names), .unknown(let names): names
    case .differs(let differences): differences.map(\.name)
    }
  }
}

extension StaleUse.Window {
  /// The state of the window as a word for programs.
  var word: String {
    switch self {
    case .ahead: "ahead"
    case .open: "open"
    case .closed: "closed"
    case .void: "void"
    case .invalid: "invalid"
    }
  }

  /// The length of a window that is ahead, the rest of an open one, or the time since a closed one closed.
  var seconds: Int64? {
    switch self {
    case .ahead(let seconds), .open(let seconds), .closed(let seconds): seconds
    case .void, .invalid: nil
    }
  }
}

extension CacheDirective.Name {
  /// Whether the argument is a number of seconds.
  var takesSeconds: Bool {
    switch self {
    case .maxAge, .maxStale, .minFresh, .sharedMaxAge, .staleIfError, .staleWhileRevalidate: true
    default: false
    }
  }
}

extension FieldSection {
  /// The joined lines of a field as output may show them; `nil` if there are none.
  func shownValue(of name: FieldName, _ secrets: SecretPolicy) -> [UInt8]? {
    let lines = values(of: name)
    if lines.isEmpty { return nil }
    // Lines of a field with one name mean the same as one line with commas (RFC 9110 §5.3).
    let value = lines.count == 1 ? lines[0] : Array(lines.joined(separator: Array(", ".utf8)))
    if secrets.showSecrets { return value }
    return Mask.headerValue(ByteString(value), named: ByteString(name.lowercased)).bytes
  }
}

extension RequestCachePolicy {
  /// The name of the policy; of two names, the newer one.
  var name: String { Self.names.first { $0.policy == self }?.name ?? "" }
}
