public import Administration
public import Bytes
import JSON
public import ResponseStorage

/// Renders the differences between two caches, one at a time.
public struct ComparisonRenderer: Sendable {
  /// Which secrets the output may contain.
  public let secrets: SecretPolicy

  /// The time to which ages are measured.
  let now: Timestamp

  /// Whether one cache keeps less of an entry than the other, so that what only one knows is no difference.
  public var isReduced = false

  private var json = JSONStream(.hostileText)

  /// Creates a renderer.
  public init(secrets: SecretPolicy, now: Timestamp) {
    (self.secrets, self.now) = (secrets, now)
  }

  /// Appends a line for a difference, and indented lines for its detail.
  public func appendText(
    _ difference: StoreComparison.Difference, _ detail: EntryDifference?,
    into buffer: inout TextBuffer
  ) {
    switch difference.change {
    case .added: buffer.append("+ ")
    case .removed: buffer.append("- ")
    case .changed: buffer.append("~ ")
    }
    // The key stands in for a URL that cannot be decoded: it is how the entry is found in both
    // caches.
    buffer.append(shown: secrets.url(difference.url ?? difference.key, for: .people))
    if !difference.aspects.isEmpty {
      buffer.append(" (\(difference.aspects.map(\.rawValue).joined(separator: ", ")))")
    }
    buffer.append("\n")
    if let detail { appendText(detail, into: &buffer) }
  }

  /// Appends the line of totals.
  public func appendTotals(of comparison: StoreComparison, into buffer: inout TextBuffer) {
    for change in StoreComparison.Change.allCases {
      buffer.append(grouped: Int64(comparison.count(change)))
      buffer.append(" \(change.rawValue), ")
    }
    buffer.append(grouped: comparison.same)
    buffer.append(" the same\n")
  }

  /// Begins a JSON object with the totals; its array of differences follows.
  public mutating func beginJSON(
    _ comparison: StoreComparison, of first: StoreDescription, _ second: StoreDescription,
    into buffer: inout TextBuffer
  ) {
    json.begin("differences", in: &buffer.bytes) {
      $0.member(schema: "diff")
      $0.member("first", first)
      $0.member("second", second)
      for change in StoreComparison.Change.allCases {
        $0.member(named: change.rawValue, comparison.count(change))
      }
      $0.member("same", comparison.same)
    }
  }

  /// Appends a difference, with its detail if there is one.
  public mutating func appendJSON(
    _ difference: StoreComparison.Difference, _ detail: EntryDifference?,
    into buffer: inout TextBuffer
  ) {
    // The closure uses `self`, which must not be changed meanwhile.
    var stream = json
    stream.append(to: &buffer.bytes) { json in
      json.object { json in
        json.member("key", url: difference.key, secrets)
        json.member("url", url: difference.url, secrets)
        json.member("change", difference.change.rawValue)
        json.member("differs", difference.aspects.map(\.rawValue))
        if let detail { write(detail, to: &json) }
      }
    }
    json = stream
  }

  /// Ends the JSON object.
  public mutating func endJSON(into buffer: inout TextBuffer) {
    json.end(in: &buffer.bytes)
  }
}

/// An entry in two stores, and the difference between its bodies if they were compared.
public struct EntryDifference: Sendable {
  /// The entry in the first store, decoded completely; `nil` if it is not there.
  public var first: StoredResponse?

  /// The entry in the second store, decoded completely; `nil` if it is not there.
  public var second: StoredResponse?

  /// The difference between the bodies; `nil` if they were not compared.
  public var body: BodyDifference?

  /// Creates the difference.
  public init(first: StoredResponse?, second: StoredResponse?, body: BodyDifference?) {
    (self.first, self.second, self.body) = (first, second, body)
  }
}

extension TextBuffer {
  /// Appends the hunks of a unified diff, as POSIX `diff -u` prints them, without the two lines of file names.
  ///
  /// - Parameter isSafe: Whether to show the lines in the safe form of ``HostileText``. Otherwise `patch` can apply
  ///   the result.
  mutating func append(unifiedDiff comparison: LineComparison, isSafe: Bool) {
    for hunk in comparison.hunks() {
      append("@@ -")
      append(lineRange: hunk.first)
      append(" +")
      append(lineRange: hunk.second)
      append(" @@\n")
      for line in hunk.lines {
        switch line {
        case .same(let index): append(" ", line: comparison.second[index], isSafe: isSafe)
        case .removed(let index): append("-", line: comparison.first[index], isSafe: isSafe)
        case .added(let index): append("+", line: comparison.second[index], isSafe: isSafe)
        }
      }
    }
  }

  private mutating func append(lineRange range: Range<Int>) {
    // An empty range is given by the line before it.
    append(integer: Int64(range.isEmpty ? range.lowerBound : range.lowerBound + 1))
    if range.count != 1 {
      append(",")
      append(integer: Int64(range.count))
    }
  }

  private mutating func append(_ mark: String, line: ArraySlice<UInt8>, isSafe: Bool) {
    append(mark)
    let isEnded = line.last == 0x0A
    let text = isEnded ? line.dropLast() : line
    if isSafe {
      // Tabs are harmless, and common in the text that is compared.
      for (index, piece) in text.split(separator: 0x09, omittingEmptySubsequences: false)
        .enumerated()
      {
        if index > 0 { append(0x09) }
        append(shown: Array(piece))
      }
    } else {
      append(contentsOf: text)
    }
    append("\n")
    // `patch` needs this line to restore the text exactly.
    if !isEnded { append("\\ No newline at end of file\n") }
  }
}

/// The details of a difference, for people.
extension ComparisonRenderer {
  /// The values that are compared. Where a body is stored does not matter, because it is no property of the response.
  private static let columns: [(title: String, column: EntryField)] = [
    ("method", "method"), ("status", "status"), ("media type", "mime"), ("size", "size"),
    ("stored", "stored"), ("first stored", "first-stored"), ("storage policy", "policy"),
    ("partition", "partition"),
  ]

  /// Appends what differs, indented by four spaces.
  func appendText(_ detail: EntryDifference, into buffer: inout TextBuffer) {
    let start = buffer.bytes.count
    appendValues(detail, into: &buffer)
    guard let first = detail.first, let second = detail.second else { return }
    append(
      HeaderChange.changes(
        from: first.responseHeaders.map(secrets.headers),
        to: second.responseHeaders.map(secrets.headers)),
      titled: "response header fields", into: &buffer)
    if !isReduced { appendRequest(first, second, into: &buffer) }
    append(
      HeaderChange.changes(from: fields(first.userInfo), to: fields(second.userInfo)),
      titled: "user info", into: &buffer)
    if let body = detail.body { appendText(body, into: &buffer) }
    if buffer.bytes.count == start {
      // Masked secrets look equal, and property lists can be written in several ways.
      buffer.append("    no difference in the values shown here\n")
    }
  }

  /// Appends what differs in the requests, and in what CFNetwork attached to them.
  private func appendRequest(
    _ first: StoredResponse, _ second: StoredResponse, into buffer: inout TextBuffer
  ) {
    append(
      HeaderChange.changes(
        from: first.request.headers.map(secrets.headers),
        to: second.request.headers.map(secrets.headers)),
      titled: "request header fields", into: &buffer)
    append(
      HeaderChange.changes(
        from: fields(first.protocolProperties), to: fields(second.protocolProperties)),
      titled: "protocol properties", into: &buffer)
    // Only that it differs: the body of a request is where passwords are sent.
    if first.request.body != second.request.body {
      buffer.append("    request body      differs\n")
    }
  }

  private func appendValues(_ detail: EntryDifference, into buffer: inout TextBuffer) {
    let cells = CellReader(
      Self.columns.map(\.column), secrets: secrets, reader: .people,
      context: EntryContext(now: now, expiryRules: []))
    let renderer = ShowRenderer(secrets: secrets, now: now)
    for (index, title) in Self.columns.map(\.title).enumerated() {
      let texts = [detail.first, detail.second].map { response in
        var text = TextBuffer()
        if let response {
          renderer.append(cells.value(at: index, in: response), into: &text)
        }
        return text
      }
      // Of an entry that is in one cache only, unknown values say nothing.
      let isUnknown = { (text: TextBuffer) in text.bytes.isEmpty || text.bytes == [0x2D] }
      guard texts[0] != texts[1], !texts.allSatisfy(isUnknown) else { continue }
      let isKnownOnce =
        detail.first != nil && detail.second != nil && texts.contains(where: isUnknown)
      if isReduced, isKnownOnce { continue }
      buffer.append("    \(title)")
      buffer.append(UInt8(ascii: " "), count: 18 - title.utf8.count)
      buffer.append(
        contentsOf: Array(texts.map(\.bytes).filter { !$0.isEmpty }.joined(separator: " → ".utf8)))
      buffer.append("\n")
    }
  }

  private func append(
    _ changes: [HeaderChange], titled title: String, into buffer: inout TextBuffer
  ) {
    if changes.isEmpty { return }
    buffer.append("    \(title)\n")
    for change in changes {
      let lines = change.before.map { ("-", $0) } + change.after.map { ("+", $0) }
      for (mark, value) in lines {
        buffer.append("      \(mark) ")
        buffer.append(shown: change.name)
        buffer.append(": ")
        buffer.append(shown: value)
        buffer.append("\n")
      }
    }
  }

  /// Returns properties as fields, whose values are JSON.
  private func fields(_ properties: [StoredResponse.Property]) -> HeaderFields {
    HeaderFields(
      secrets.properties(properties).map { property in
        var text = TextBuffer()
        text.writeJSON { $0.value(property.value) }
        return HeaderFields.Field(name: property.key, value: ByteString(text.bytes))
      })
  }

  private func appendText(_ body: BodyDifference, into buffer: inout TextBuffer) {
    switch body {
    case .lines(let comparison, let isIndented):
      buffer.append(isIndented ? "    body              JSON, indented\n" : "    body\n")
      var text = TextBuffer()
      text.append(unifiedDiff: comparison, isSafe: true)
      for line in text.bytes.split(separator: 0x0A) {
        buffer.append("      ")
        buffer.append(contentsOf: line)
        buffer.append("\n")
      }
      guard comparison.isCut else { break }
      buffer.append("      only the first ")
      buffer.append(grouped: Int64(max(comparison.first.count, comparison.second.count)))
      buffer.append(" lines were compared; not compared: ")
      buffer.append(counted: Int64(comparison.omitted.first), "line before, ", "lines before, ")
      buffer.append(counted: Int64(comparison.omitted.second), "line after\n", "lines after\n")
    case .sameJSON: buffer.append("    body              the same JSON, except for white space\n")
    case .sameDecoded: buffer.append("    body              the same after decoding\n")
    case .binary: buffer.append("    body              differs, and is not text\n")
    case .tooLarge(let limit):
      buffer.append("    body              not compared: larger than ")
      buffer.append(byteCount: limit)
      buffer.append("\n")
    case .unreadable: buffer.append("    body              not compared: cannot be read\n")
    }
  }
}

/// The details of a difference, for programs.
extension ComparisonRenderer {
  /// Writes the members `before` and `after`, the changed header fields, and what is known of the bodies.
  func write(_ detail: EntryDifference, to json: inout JSONWriter) {
    let entry = EntryJSON(
      columns: ["id"] + Self.columns.map(\.column), secrets: secrets,
      context: EntryContext(now: now, expiryRules: []))
    for (name, response) in [("before", detail.first), ("after", detail.second)] {
      json.key(named: name)
      guard let response else {
        json.null()
        continue
      }
      json.object { entry.write(response, to: &$0) }
    }
    write(
      "response_headers",
      HeaderChange.changes(
        from: detail.first?.responseHeaders.map(secrets.headers),
        to: detail.second?.responseHeaders.map(secrets.headers)), to: &json)
    write(
      "request_headers",
      HeaderChange.changes(
        from: detail.first?.request.headers.map(secrets.headers),
        to: detail.second?.request.headers.map(secrets.headers)), to: &json)
    guard let body = detail.body else { return json.null("body") }
    json.object("body") { json in
      json.member("result", body.word)
      guard case .lines(let comparison, let isIndented) = body else {
        json.null("indented")
        json.null("diff")
        return json.null("omitted_lines")
      }
      json.member("indented", isIndented)
      var text = TextBuffer()
      text.append(unifiedDiff: comparison, isSafe: false)
      json.member("diff", utf8OrBase64: text.bytes)
      guard comparison.isCut else { return json.null("omitted_lines") }
      json.object("omitted_lines") { json in
        json.member("before", Int64(comparison.omitted.first))
        json.member("after", Int64(comparison.omitted.second))
      }
    }
  }

  private func write(
    _ name: StaticString, _ changes: [HeaderChange], to json: inout JSONWriter
  ) {
    json.array(name, objects: changes) { json, change in
      json.member("name", utf8OrBase64: change.name)
      json.array("before") { json in change.before.forEach { Self.write($0, to: &json) } }
      json.array("after") { json in change.after.forEach { Self.write($0, to: &json) } }
    }
  }

  /// Writes a value as a string, or as an object with its Base64 if it is not UTF-8.
  private static func write(_ value: ByteString, to json: inout JSONWriter) {
    if json.string(utf8: value.bytes) { return }
    json.object {
      $0.key("base64")
      $0.base64(value.bytes)
    }
  }
}

extension LineComparison {
  /// Whether lines at the end of a text were left out.
  fileprivate var isCut: Bool { omitted.first + omitted.second > 0 }
}

extension BodyDifference {
  /// The name in JSON.
  fileprivate var word: String {
    switch self {
    case .lines: "lines"
    case .sameJSON: "same-json"
    case .sameDecoded: "same-decoded"
    case .binary: "binary"
    case .tooLarge: "too-large"
    case .unreadable: "unreadable"
    }
  }
}
