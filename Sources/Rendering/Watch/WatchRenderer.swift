public import Administration
public import Bytes
import JSON
public import ResponseStorage
public import Watching

/// Renders what a watch sees, as lines for people.
public struct WatchRenderer: Sendable {
  let secrets: SecretPolicy
  let expiryRules: [UserInfoExpiry.Rule]
  private let hasRows: Bool

  /// The fields that lines and objects show.
  public static let projection = (EntryField.standardJSON + ["freshness", "host"]).projection

  /// Creates a renderer.
  ///
  /// - Parameters:
  ///   - secrets: Which secrets are shown.
  ///   - expiryRules: The expiry rules of apps, which affect freshness.
  ///   - store: The cache.
  public init(
    secrets: SecretPolicy, expiryRules: [UserInfoExpiry.Rule], store: StoreDescription
  ) {
    self.secrets = secrets
    self.expiryRules = expiryRules
    hasRows = store.traits.hasDatabase
  }

  /// Appends the line above the changes.
  public func appendHeading(into buffer: inout TextBuffer) {
    appendLine(
      time: "TIME", change: "CHANGE", id: "ID", size: "SIZE", status: "STATUS",
      freshness: ("FRESHNESS", nil), url: ByteString("URL"), width: nil, emphasis: .heading,
      into: &buffer)
  }

  /// Appends the line of a change.
  ///
  /// - Parameters:
  ///   - moment: When it was seen.
  ///   - width: The width of the terminal; `nil` for a line of any width.
  public func append(
    _ change: EntryChange, at moment: Moment, width: Int?, into buffer: inout TextBuffer
  ) {
    let reader = CellReader(
      ["freshness"], secrets: secrets, reader: .people,
      context: EntryContext(now: moment.evaluation, expiryRules: expiryRules))
    var (status, freshness): (String, (String, Emphasis?)) = ("-", ("-", nil))
    if let response = change.response {
      status = response.status.map { "\($0)" } ?? "-"
      if case .freshness(let state) = reader.value(at: 0, in: response) {
        freshness = (state.words, state?.emphasis)
      }
    }
    var url = TextBuffer()
    if let text = change.url {
      url.append(shown: secrets.url(text, for: .people))
    } else {
      url.append("-")
    }
    var id = "-"
    if case .row(let row) = change.id { id = "\(row)" }
    appendLine(
      time: Self.time(moment.time), change: change.kind.rawValue, id: id,
      size: change.size.map(ByteSizeText.text) ?? "-", status: status, freshness: freshness,
      url: ByteString(url.bytes), width: width, emphasis: nil, into: &buffer)
  }

  private func appendLine(
    time: String, change: String, id: String, size: String, status: String,
    freshness: (text: String, emphasis: Emphasis?), url: ByteString, width: Int?,
    emphasis: Emphasis?, into buffer: inout TextBuffer
  ) {
    buffer.append(as: emphasis) { buffer in
      var used = 0
      func append(
        _ text: String, columns: Int, right: Bool = false, as color: Emphasis? = nil,
        to buffer: inout TextBuffer
      ) {
        // Only words and numbers of this tool, which are ASCII.
        let padding = columns - text.utf8.count
        if right { buffer.append(UInt8(ascii: " "), count: padding) }
        buffer.append(text, as: color)
        if !right { buffer.append(UInt8(ascii: " "), count: padding) }
        buffer.append("  ")
        used += max(columns, text.utf8.count) + 2
      }
      append(time, columns: 9, to: &buffer)
      append(change, columns: 8, to: &buffer)
      if hasRows { append(id, columns: 6, right: true, to: &buffer) }
      append(size, columns: 8, right: true, to: &buffer)
      append(status, columns: 6, right: true, to: &buffer)
      append(freshness.text, columns: 11, as: freshness.emphasis, to: &buffer)
      // At least some letters of the URL, even if the terminal then breaks the line.
      let room = width.map { max(10, $0 - used) } ?? .max
      buffer.append(
        contentsOf: DisplayWidth.shortened(url.bytes[...], to: room, style: buffer.style))
    }
    buffer.trimTrailingSpaces()
    buffer.append(UInt8(ascii: "\n"))
  }

  /// Returns the time of day in UTC: `16:45:03Z`.
  private static func time(_ moment: Timestamp) -> String {
    let parts = TimeText.text(moment).utf8.drop { $0 != UInt8(ascii: "T") }.dropFirst()
    return String(decoding: Array(parts), as: UTF8.self)
  }

  /// Returns the line that is shown at the bottom while the watch goes on.
  ///
  /// - Parameters:
  ///   - changes: The number of changes in the last seconds, as of ``ChangeRate``.
  ///   - seconds: How long the watch has gone on.
  ///   - width: The width of the terminal.
  public static func status(
    _ tally: ChangeTally, changes: Int64, after seconds: Int64, width: Int, style: TextStyle
  ) -> [UInt8] {
    let span = min(max(seconds, 1), ChangeRate.seconds)
    let tenths = (changes * 10 + span / 2) / span
    let dot = style.isASCII ? ", " : " · "
    var buffer = TextBuffer(style: style)
    buffer.append("\(AgeText.text(seconds: seconds))\(dot)\(tenths / 10).\(tenths % 10)/s")
    buffer.append("\(dot)\(words(of: tally))\(dot)\(ByteSizeText.text(tally.storedBytes)) stored")
    for state in ResponseFreshness.State.allCases {
      guard let count = tally.freshness[state] else { continue }
      buffer.append("\(dot)\(QuantityWords.grouped(count)) \(state.words)")
    }
    for (host, entries, _) in tally.busiestHosts(3) {
      buffer.append(dot)
      buffer.append(shown: host)
      buffer.append(" \(QuantityWords.grouped(entries))")
    }
    return Array(
      DisplayWidth.shortened(buffer.bytes[...], to: width, keeping: .start, style: style))
  }

  /// Returns the numbers of changes: `12 added, 3 replaced, 1 removed`.
  static func words(of tally: ChangeTally) -> String {
    var parts = EntryChange.Kind.allCases.map {
      "\(QuantityWords.grouped(tally.count($0))) \($0.rawValue)"
    }
    if tally.missed > 0 { parts.append("\(QuantityWords.grouped(tally.missed)) not seen") }
    return parts.joined(separator: ", ")
  }

  /// Returns what is reported at the end, in lines.
  public static func summary(_ summary: WatchSummary) -> [String] {
    let tally = summary.tally
    var lines = [
      "watched for \(AgeText.words(seconds: summary.milliseconds / 1_000)): \(words(of: tally))"
    ]
    if tally.all > 0 {
      lines[0] +=
        "; \(ByteSizeText.text(tally.storedBytes)) stored, \(ByteSizeText.text(tally.removedBytes)) removed"
    }
    if tally.stored > 0 {
      let states = ResponseFreshness.State.allCases.compactMap { state in
        tally.freshness[state].map { "\(QuantityWords.grouped($0)) \(state.words)" }
      }
      if !states.isEmpty { lines.append("when stored: " + states.joined(separator: ", ")) }
    }
    for (host, entries, bytes) in tally.busiestHosts(5) {
      let name = HostileText.shown(host).string ?? ""
      lines.append(
        "  \(name): \(QuantityWords.grouped(entries)) stored, \(ByteSizeText.text(bytes))")
    }
    if tally.missed > 0 {
      lines.append(
        "changes not seen because the entries were stored and replaced or removed between two checks: "
          + QuantityWords.grouped(tally.missed))
    }
    if let transactions = summary.transactions, transactions > tally.all + 2 * tally.missed {
      lines.append(
        "the app committed \(QuantityWords.grouped(transactions)) transactions; several changes to one"
          + " entry between two checks are shown as one")
    }
    return lines
  }
}

/// What a watch has seen until its end.
public struct WatchSummary: Sendable {
  /// Why a watch ends.
  public enum Reason: String, Sendable {
    /// What was waited for has happened.
    case awaited
    /// The time is over.
    case time
    /// A signal came, such as that of Control-C.
    case signal
  }

  /// Why it ended.
  public let reason: Reason
  /// The changes.
  public let tally: ChangeTally
  /// The number of entries at the end.
  public let entries: Int64
  /// The number of transactions, as SQLite counts them; `nil` if it is unknown.
  public let transactions: Int64?
  /// The number of looks at the whole cache.
  public let looks: Int64
  /// How long it went on, in milliseconds.
  public let milliseconds: Int64

  /// Creates a summary.
  public init(
    reason: Reason, tally: ChangeTally, entries: Int64, transactions: Int64?, looks: Int64,
    milliseconds: Int64
  ) {
    self.reason = reason
    self.tally = tally
    self.entries = entries
    self.transactions = transactions
    self.looks = looks
    self.milliseconds = milliseconds
  }
}

/// One JSON object a line, each with its event: `begin`, a change, `gone`, `back`, and at last `end`.
extension WatchRenderer {
  /// When something happens.
  public struct Moment: Sendable {
    /// The time.
    public let time: Timestamp
    /// The time that ages are relative to, which `--at` can set.
    public let evaluation: Timestamp
    /// The time since the beginning of the watch, in milliseconds.
    public let milliseconds: Int64

    /// Creates a moment.
    public init(_ time: Timestamp, evaluation: Timestamp, milliseconds: Int64) {
      (self.time, self.evaluation, self.milliseconds) = (time, evaluation, milliseconds)
    }
  }

  /// Appends the first object.
  ///
  /// - Parameters:
  ///   - store: The cache; `nil` if there is none yet.
  ///   - entries: The number of its entries, selected or not.
  public func appendBegin(
    _ store: StoreDescription, entries: Int64, at moment: Moment, into buffer: inout TextBuffer
  ) {
    append("begin", moment, into: &buffer) { json in
      json.member(schema: "watch")
      json.member("cache", store)
      json.member("entries", entries)
    }
  }

  /// Appends the object of a change.
  public func appendJSON(_ change: EntryChange, at moment: Moment, into buffer: inout TextBuffer) {
    append(change.kind.rawValue, moment, into: &buffer) { json in
      guard let response = change.response else {
        json.member(id: change.id)
        json.member("url", url: change.url, secrets)
        return json.member("size", change.size)
      }
      EntryJSON(
        columns: EntryField.standardJSON + ["host", "freshness"], secrets: secrets,
        context: EntryContext(now: moment.evaluation, expiryRules: expiryRules)
      ).write(response, to: &json)
      guard change.kind == .replaced else { return }
      json.object("previous") { json in
        json.member(id: change.previousID ?? change.id)
        json.member("size", change.previousSize)
      }
    }
  }

  /// Appends an object about the cache as a whole: `gone` or `back`.
  public func appendJSON(event: String, at moment: Moment, into buffer: inout TextBuffer) {
    append(event, moment, into: &buffer) { _ in }
  }

  /// Appends the last object.
  public func append(
    _ summary: WatchSummary, at moment: Moment, into buffer: inout TextBuffer
  ) {
    let tally = summary.tally
    append("end", moment, into: &buffer) { json in
      json.member("reason", word: summary.reason.rawValue)
      json.member("entries", summary.entries)
      json.member("added", tally.count(.added))
      json.member("replaced", tally.count(.replaced))
      json.member("removed", tally.count(.removed))
      json.member("not_seen", tally.missed)
      json.member("transactions", summary.transactions)
      json.member("looks", summary.looks)
      json.member("stored_bytes", tally.storedBytes)
      json.member("removed_bytes", tally.removedBytes)
      json.object("freshness") { json in
        for state in ResponseFreshness.State.allCases {
          json.member(named: state.rawValue, tally.freshness[state] ?? 0)
        }
      }
      json.array("hosts", objects: tally.busiestHosts(100)) { json, host in
        json.member("host", utf8OrBase64: host.host)
        json.member("stored", host.entries)
        json.member("bytes", host.bytes)
      }
      json.member("other_hosts", tally.otherHosts)
    }
  }

  private func append(
    _ event: String, _ moment: Moment, into buffer: inout TextBuffer,
    _ members: (inout JSONWriter) -> Void
  ) {
    buffer.writeJSON { json in
      json.object { json in
        json.member("event", word: event)
        json.member("time", moment.time)
        json.member("elapsed", Double(moment.milliseconds) / 1_000)
        members(&json)
      }
      json.endLine()
    }
  }
}
