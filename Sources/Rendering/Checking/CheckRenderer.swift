public import Administration
import Bytes
import JSON
public import ResponseStorage

/// Renders the findings of a check.
///
/// JSON has every finding, in the order in which they are found. People see a table of the kinds and the first findings
/// of each.
public struct CheckRenderer: Sendable {
  /// The output format.
  public enum Format: Hashable, Sendable {
    case text, json
  }

  /// The findings of one kind.
  private struct Kind: Sendable {
    let code: Finding.Code
    var count: Int64 = 0
    var first: [Finding] = []
  }

  private static let findingsOfKind = 5
  private static let widestText = 100

  private let format: Format
  private let secrets: SecretPolicy
  private var json = JSONStream(.hostileText)
  private var kinds: [Kind] = []

  /// Creates a renderer.
  public init(_ format: Format, secrets: SecretPolicy) {
    self.format = format
    self.secrets = secrets
  }

  /// Appends the text before the findings.
  public mutating func begin(into buffer: inout TextBuffer) {
    guard format == .json else { return }
    json.begin("findings", in: &buffer.bytes) { $0.member(schema: "check") }
  }

  /// Adds a finding. JSON is appended at once; text waits for ``finishFindings(_:into:)``.
  public mutating func append(_ finding: Finding, into buffer: inout TextBuffer) {
    switch format {
    case .json:
      let secrets = secrets
      // Written at once, as a damaged cache can have a finding for each of a million entries.
      json.append(to: &buffer.bytes) { $0.object { $0.members(of: finding, secrets) } }
    case .text:
      let index = kinds.firstIndex { $0.code.name == finding.code.name } ?? kinds.count
      if index == kinds.count { kinds.append(Kind(code: finding.code)) }
      kinds[index].count += 1
      // Keep only the first findings: a damaged cache can have one for each entry.
      if kinds[index].first.count < Self.findingsOfKind { kinds[index].first.append(finding) }
    }
  }

  /// Appends the text between the findings and the result of a repair.
  public mutating func finishFindings(_ check: StoreCheck, into buffer: inout TextBuffer) {
    switch format {
    case .json:
      json.endArray(in: &buffer.bytes) {
        $0.member("entries", check.plan.storedEntries)
        $0.member("cache", check.plan.store)
        $0.member("counts", counts: check.counts)
      }
    case .text:
      // By severity and name, and not in the order of discovery, so that the same findings always
      // give the same text.
      let kinds = kinds.sorted {
        ($0.code.severity.rank, $0.code.name) < ($1.code.severity.rank, $1.code.name)
      }
      if !kinds.isEmpty { appendTable(of: kinds, into: &buffer) }
      for kind in kinds { append(kind, into: &buffer) }
      if !kinds.isEmpty { buffer.append("\n") }
      appendSummary(check, into: &buffer)
    }
  }

  /// Appends the result of a repair.
  ///
  /// - Parameters:
  ///   - repair: Appends the result; `nil` if there was no repair.
  ///   - left: The findings of a check after the repair; `nil` if there was none.
  /// - Throws: The error that `repair` throws.
  public func finish(
    repair: ((inout TextBuffer) throws -> Void)?, left: StoreCheck?,
    into buffer: inout TextBuffer
  ) throws {
    switch format {
    case .json:
      var json = json
      if let repair {
        // The result of a repair is a document of its own, which becomes a member here.
        json.beginMember("repair", in: &buffer.bytes)
        try repair(&buffer)
      }
      json.end(in: &buffer.bytes) { json in
        if repair == nil { json.member("repair", nil as Int?) }
        if let left {
          json.member("left", counts: left.counts)
        } else {
          json.member("left", nil as Int?)
        }
      }
    case .text:
      guard let repair else { return }
      buffer.append("\n")
      try repair(&buffer)
      guard let left else { return }
      buffer.append("\nAfter the repair: ")
      appendSummary(left, into: &buffer)
    }
  }
}

extension JSONWriter {
  fileprivate mutating func members(of finding: Finding, _ secrets: SecretPolicy) {
    member("code", finding.code.name)
    member("severity", finding.code.severity.rawValue)
    // Findings about files and about the database as a whole have no entry, but every object has
    // the same members.
    if let id = finding.id { member(id: id) } else { member("id", nil as Int64?) }
    member("url", url: finding.url, secrets)
    member("path", utf8OrBase64: finding.path)
    member("message", "\(finding.message); \(finding.code.meaning)")
    member("repairable", finding.code.repair != nil)
  }

  fileprivate mutating func member(_ name: StaticString, counts: [Finding.Severity: Int64]) {
    object(name) {
      for severity in Finding.Severity.allCases {
        $0.member(named: "\(severity.rawValue)s", counts[severity, default: 0])
      }
    }
  }
}

extension CheckRenderer {
  private func appendTable(of kinds: [Kind], into buffer: inout TextBuffer) {
    var table = TextTable([
      .init(title: "SEVERITY"), .init(title: "FINDING"), .init(title: "COUNT", alignment: .right),
      .init(title: "REPAIR"),
    ])
    for kind in kinds {
      var count = TextBuffer()
      count.append(grouped: kind.count)
      let severity = kind.code.severity
      table.append(
        [
          Array(severity.rawValue.utf8), Array(kind.code.name.utf8), count.bytes,
          Array((kind.code.repair?.rawValue ?? "-").utf8),
        ], startingAs: severity.emphasis)
    }
    table.append(to: &buffer)
  }

  private func append(_ kind: Kind, into buffer: inout TextBuffer) {
    buffer.append("\n")
    buffer.append(kind.code.name, as: kind.code.severity.emphasis)
    buffer.append(": \(kind.code.meaning)\n")
    for finding in kind.first {
      buffer.append("  ")
      if let id = finding.id { buffer.append("\(id.short)  ") }
      if let url = finding.url {
        appendShortened(secrets.url(url, for: .people), "  ", into: &buffer)
      } else if let path = finding.path {
        appendShortened(path, "  ", into: &buffer)
      }
      buffer.append(shown: ByteString(finding.message))
      buffer.append("\n")
    }
    let more = kind.count - Int64(kind.first.count)
    if more > 0 {
      buffer.append("  ")
      buffer.append(grouped: more)
      buffer.append(" more\n")
    }
  }

  private func appendShortened(
    _ text: ByteString, _ end: String, into buffer: inout TextBuffer
  ) {
    let shown = HostileText.shown(text)
    buffer.append(
      contentsOf: DisplayWidth.shortened(shown.bytes[...], to: Self.widestText, style: buffer.style)
    )
    buffer.append(end)
  }

  private func appendSummary(_ check: StoreCheck, into buffer: inout TextBuffer) {
    buffer.append(QuantityWords.counted(check.plan.storedEntries, "entry", "entries"))
    if check.isCut { buffer.append(" before the damage") }
    for severity in Finding.Severity.allCases {
      let count = check.counts[severity, default: 0]
      buffer.append(", ")
      // No color for "0 errors", which would look like a failure.
      buffer.append(as: count == 0 ? nil : severity.emphasis) {
        $0.append(severity.counted(count))
      }
    }
    buffer.append("\n")
  }
}

extension Finding.Severity {
  /// The rank by severity, most severe first.
  fileprivate var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

  /// The emphasis of findings; notes are no reason to worry, and have none.
  fileprivate var emphasis: Emphasis? {
    switch self {
    case .error: .error
    case .warning: .warning
    case .note: nil
    }
  }
}

/// Renders errors for programs.
public enum ErrorRenderer {
  /// Returns one line with a JSON object that describes an error.
  ///
  /// - Parameters:
  ///   - code: The exit status.
  ///   - kind: The kind of error, for programs, such as `busy`.
  ///   - message: The message, for people.
  ///   - hint: A suggestion, for people.
  ///   - path: The file concerned.
  public static func json(
    code: Int, kind: String, message: String, hint: String?, path: String?
  ) -> TextBuffer {
    var buffer = TextBuffer()
    // Errors are JSON too where the output is: a program that parses it must not have to parse
    // sentences when something fails.
    buffer.writeJSON(schema: "error") {
      $0.member("code", code)
      $0.member("kind", kind)
      $0.member("message", message)
      // Apart from the message, as a program may show one to its user and act on the other.
      $0.member("hint", hint)
      $0.member("path", path)
    }
    return buffer
  }
}

/// The command that repairs the findings of a check.
public enum RepairHint {
  /// Returns the command that saves what is left in a damaged database; `nil` if the database is not damaged.
  public static func recovery(for check: StoreCheck) -> String? {
    let store = check.plan.store
    guard check.isDamaged, store.traits.hasDatabase else { return nil }
    return recovery(ofCacheAt: store.path)
  }

  /// Returns the command that saves what is left in the damaged database of a cache.
  public static func recovery(ofCacheAt path: String) -> String {
    let isOption = path.utf8.first == UInt8(ascii: "-")
    let cache =
      isOption ? ShellText.option("-c", "--cache", path) : ShellText.word(ByteString(path))
    return "urlcache-admin recover --damaged \(cache) -o recovered.tar"
  }

  /// Returns the path of a new cache with the entries that are recovered from a damaged one: a folder next to it.
  public static func newCache(insteadOf path: String) -> String {
    var folder = path.utf8[...]
    let name = "Cache.db".utf8
    if folder.elementsEqual(name) || folder.reversed().starts(with: "/Cache.db".utf8.reversed()) {
      folder = folder.dropLast(name.count)
    }
    while folder.count > 1, folder.last == UInt8(ascii: "/") { folder = folder.dropLast() }
    let text = String(decoding: Array(folder), as: UTF8.self)
    return ["", ".", "/"].contains(text) ? "recovered" : "\(text)-recovered"
  }

  /// Returns the command for a POSIX shell; `nil` if nothing can be repaired, or the store is read-only.
  ///
  /// - Parameter naming: How sidecar files are named, if the user specified it.
  public static func command(for check: StoreCheck, naming: SidecarNaming? = nil) -> String? {
    let store = check.plan.store
    var repairable = check.repairable
    // Without the naming scheme, a repair could not write sidecar files.
    if check.sidecars?.needsNaming ?? true { repairable.remove(.sidecars) }
    // A damaged database is never changed.
    guard !repairable.isEmpty, !check.isDamaged, store.readOnlyReason == nil,
      store.traits.isCache
    else { return nil }
    // Named one by one: a bare `--repair` would also remove kinds that this check has not found.
    let kinds = Finding.Repair.allCases.filter { repairable.contains($0) }.map(\.rawValue)
    let cache = ShellText.option("-c", "--cache", store.path)
    var command = "urlcache-admin check \(cache) --repair=\(kinds.joined(separator: ","))"
    if repairable.contains(.sidecars), let folder = check.sidecars?.folder.path {
      command += " " + ShellText.option("--sidecars", "--sidecars", folder)
      if let naming { command += " --sidecar-names \(naming.rawValue)" }
    }
    return command
  }
}
