import Auditing
import Bytes
import ResponseStorage
import Secrets

/// The words for findings of an audit.
struct AuditWords: Sendable {
  /// The secrets to show.
  let secrets: SecretPolicy

  /// The time with which expiries are compared.
  let now: Timestamp

  /// The most bytes of a text from a cache that are shown in a line.
  private static let mostBytes = 120

  /// Appends the place of a finding: `entry 12, response body, offset 840`.
  func append(placeOf finding: AuditFinding, into buffer: inout TextBuffer) {
    var separator = ""
    if let id = finding.id {
      buffer.append("entry \(id.short)")
      separator = ", "
    }
    if finding.place != .entry { buffer.append(separator) }
    switch finding.place {
    case .entry: break
    case .url: buffer.append("URL")
    case .requestField(let name): append("request field", name, into: &buffer)
    case .requestBody: buffer.append("request body")
    case .responseField(let name): append("response field", name, into: &buffer)
    case .body: buffer.append("response body")
    case .userInfo(let name): append("user info", name, into: &buffer)
    case .property(let name): append("property", name, into: &buffer)
    case .file(let name): append(name, into: &buffer)
    case .page(let file, let frame, let page):
      append(file, into: &buffer)
      if let frame { buffer.append(", frame \(frame)") }
      buffer.append(", page \(page)")
    }
    if let offset = finding.offset { buffer.append(", offset \(offset)") }
  }

  /// Appends what was found: the masked secret with its fingerprint, or the value.
  func append(subjectOf finding: AuditFinding, into buffer: inout TextBuffer) {
    if let secret = finding.secret {
      buffer.append(shown: text(of: secret))
      if let name = finding.detail {
        buffer.append(" in '")
        append(name, into: &buffer)
        buffer.append("'")
      }
      if let expires = secret.expires.flatMap({ Timestamp(secondsSince1970: Double($0)) }) {
        let isOver = expires <= now
        buffer.append(isOver ? ", expired " : ", expires ")
        buffer.append(AgeText.words(from: expires, to: now))
      }
      buffer.append(", fingerprint \(secret.fingerprint)")
    } else if let detail = finding.detail, !detail.bytes.isEmpty {
      append(detail, into: &buffer)
    }
    if case .page = finding.place { buffer.append(", left behind by a removed entry") }
    if finding.count > 1, finding.secret != nil { buffer.append(", \(finding.count) times") }
  }

  /// Returns a secret as it may be shown.
  func text(of secret: SecretMatch) -> ByteString {
    if secrets.showSecrets { return secret.value }
    return ByteString(
      Array(secret.value.bytes.prefix(secret.shownPrefix)) + Mask.replacement.bytes)
  }

  private func append(_ kind: String, _ name: ByteString, into buffer: inout TextBuffer) {
    buffer.append(kind)
    buffer.append(" '")
    append(name, into: &buffer)
    buffer.append("'")
  }

  /// Appends a text from the cache, shortened.
  private func append(_ text: ByteString, into buffer: inout TextBuffer) {
    let shown = HostileText.shown(text)
    buffer.append(
      contentsOf: DisplayWidth.shortened(
        shown.bytes[...], to: Self.mostBytes, style: buffer.style))
  }

  /// Returns the place and the subject as a text that is safe to show.
  func text(of finding: AuditFinding) -> ByteString {
    var buffer = TextBuffer()
    append(placeOf: finding, into: &buffer)
    let length = buffer.bytes.count
    if length > 0 { buffer.append(": ") }
    let start = buffer.bytes.count
    append(subjectOf: finding, into: &buffer)
    if buffer.bytes.count == start { buffer.bytes.removeLast(start - length) }
    return ByteString(buffer.bytes)
  }

  /// Returns the findings by severity: `1 error, 2 warnings`; those of which there are none are left out.
  static func counted(_ count: (Finding.Severity) -> Int64) -> String {
    let parts = Finding.Severity.allCases.compactMap { severity in
      count(severity) > 0 ? severity.counted(count(severity)) : nil
    }
    return parts.isEmpty ? "no findings" : parts.joined(separator: ", ")
  }
}

extension Finding.Severity {
  /// Returns a number with the word for it: `1 error`, `2 errors`.
  func counted(_ count: Int64) -> String {
    QuantityWords.counted(count, rawValue, "\(rawValue)s")
  }

  /// The emphasis of findings; notes have none.
  var auditEmphasis: Emphasis? {
    switch self {
    case .error: .error
    case .warning: .warning
    case .note: nil
    }
  }
}
