public import Administration
public import Bytes
import JSON
import Matching
public import ResponseStorage

/// Renders the lines that a search found.
public struct GrepRenderer: Sendable {
  /// What is shown of each entry.
  public enum Part: Hashable, Sendable {
    /// Each line with a match, and its context.
    case lines
    /// Each match.
    case matches
    /// The number of lines with a match.
    case counts
    /// Only the entry.
    case entries
  }

  /// What is shown of each entry.
  public let part: Part
  /// Which secrets the output may contain.
  public let secrets: SecretPolicy
  /// Whether lines of context are shown, so that lines that do not follow each other are separated.
  private let hasContext: Bool
  /// The maximum number of characters of a URL; `nil` for whole URLs.
  private let longestURL: Int?

  /// The end of the last line.
  private var lastEnd: Int64?

  /// What is before each group of lines that follow each other, if ``separatesGroups``.
  public static let separator = "--\n"

  /// The number of bytes shown before the first match of a long line, and in all.
  private static let (mostBefore, mostBytes) = (80, 320)

  /// Creates a renderer.
  ///
  /// - Parameter isTerminal: Whether the output is for a terminal, on which long URLs are shortened.
  public init(
    part: Part, secrets: SecretPolicy, hasContext: Bool = false, isTerminal: Bool = false
  ) {
    (self.part, self.secrets, self.hasContext) = (part, secrets, hasContext)
    longestURL = isTerminal ? 60 : nil
  }

  /// The number and the URL of an entry.
  public struct Entry: Hashable, Sendable {
    /// The id.
    public var id: StoredResponse.ID
    /// The URL, or the key if the URL is not known.
    public var url: ByteString?

    /// Creates an entry.
    public init(id: StoredResponse.ID, url: ByteString?) { (self.id, self.url) = (id, url) }
  }

  /// Whether each group of lines begins with a ``separator``, which the first group of all must lose.
  public var separatesGroups: Bool { hasContext && part == .lines }

  /// Begins the next entry.
  public mutating func beginEntry() { lastEnd = nil }

  /// Appends a found line for people.
  ///
  /// - Parameter flush: Is called after each line of the output, of which a line with many matches can have as many.
  public mutating func append(
    _ hit: EntrySearch.Hit, of entry: Entry, into buffer: inout TextBuffer,
    _ flush: (inout TextBuffer) throws -> Void
  ) rethrows {
    guard part == .lines || part == .matches else { return }
    let line = MaskedLine(hit, secrets, for: .people)
    if part == .matches {
      for (match, old) in zip(line.matches, hit.line.matches) where !old.isEmpty {
        append(entry, hit.place, hit.line.offset + Int64(old.lowerBound), ":", into: &buffer)
        append(line.text, around: match, only: true, isWhole: true, into: &buffer)
        try flush(&buffer)
      }
      return
    }
    if hasContext {
      if lastEnd != hit.line.offset || hit.place != .body { buffer.append(Self.separator) }
      lastEnd = hit.line.offset + Int64(hit.line.bytes.count) + 1
    }
    let isContext = hit.line.matches.isEmpty
    append(
      entry, hit.place, hit.line.offset + Int64(hit.line.matches.first?.lowerBound ?? 0),
      isContext ? "-" : ":", into: &buffer)
    append(
      line.text, around: line.matches.first ?? 0..<0, only: false,
      isWhole: hit.line.hasStart && hit.line.hasEnd, into: &buffer)
    try flush(&buffer)
  }

  /// Appends the entry as a whole, after all its lines.
  ///
  /// - Parameter outcome: What was found in it.
  public func append(
    _ outcome: EntrySearch.Outcome, of entry: Entry, into buffer: inout TextBuffer
  ) {
    guard outcome.lines > 0, part == .counts || part == .entries else { return }
    append(entry, into: &buffer)
    if part == .counts { buffer.append(": \(outcome.lines)") }
    buffer.append("\n")
  }

  /// Appends `12 https://example.com/`.
  private func append(_ entry: Entry, into buffer: inout TextBuffer) {
    buffer.append(entry.id.short)
    guard let url = entry.url else { return }
    buffer.append(" ")
    let shown = HostileText.shown(secrets.url(url, for: .people)).bytes
    buffer.append(contentsOf: longestURL.map { Excerpt.of(shown, characters: $0) } ?? shown)
  }

  /// Appends the beginning of a line: `12 https://example.com/: body: 840: `.
  private func append(
    _ entry: Entry, _ place: SearchedPlace, _ offset: Int64, _ separator: String,
    into buffer: inout TextBuffer
  ) {
    append(entry, into: &buffer)
    buffer.append(": \(place.rawValue)\(separator) ")
    buffer.append(integer: offset)
    buffer.append("\(separator) ")
  }

  /// Appends the part of a line around a match, in the safe form of ``HostileText``.
  private func append(
    _ text: [UInt8], around match: Range<Int>, only: Bool, isWhole: Bool,
    into buffer: inout TextBuffer
  ) {
    var end = text.count
    // The line break of Windows is no part of the line.
    if text.last == UInt8(ascii: "\r"), match.upperBound < end { end -= 1 }
    var range = only ? match : 0..<end
    if range.count > Self.mostBytes {
      let start = only ? range.lowerBound : max(0, match.lowerBound - Self.mostBefore)
      range = start..<min(range.upperBound, start + Self.mostBytes)
    }
    // Not within a character, whose bytes would be shown one by one.
    func boundary(_ index: Int) -> Int {
      var index = index
      while index > 0, index < text.count, text[index] & 0xC0 == 0x80 { index -= 1 }
      return index
    }
    let first = only ? range.lowerBound : boundary(range.lowerBound)
    let last = range.upperBound == match.upperBound ? match.upperBound : boundary(range.upperBound)
    if !only, first > 0 { buffer.append("…") }
    buffer.append(shown: Array(text[first..<max(first, last)]))
    if last < (only ? match.upperBound : end) || !only && !isWhole { buffer.append("…") }
    buffer.append("\n")
  }
}

/// One JSON object a line, in the form of ripgrep: `begin`, `match`, `context`, `end`, and at last `summary`.
extension GrepRenderer {
  /// Appends the object before the lines of an entry.
  public func appendBegin(_ entry: Entry, into buffer: inout TextBuffer) {
    append("begin", into: &buffer) { write(entry, to: &$0) }
  }

  /// Appends a found line.
  public func appendJSON(
    _ hit: EntrySearch.Hit, of entry: Entry, into buffer: inout TextBuffer
  ) {
    let line = MaskedLine(hit, secrets, for: .programs)
    append(hit.line.matches.isEmpty ? "context" : "match", into: &buffer) { json in
      write(entry, to: &json)
      json.member("where", word: hit.place.rawValue)
      if let name = hit.fieldName {
        write("field", name.bytes, to: &json)
      } else {
        json.null("field")
      }
      write("lines", line.text + (hit.line.endsWithBreak ? [UInt8(ascii: "\n")] : []), to: &json)
      json.member("line_number", hit.line.number)
      json.member("absolute_offset", hit.line.offset)
      json.array("submatches", objects: line.matches) { json, match in
        write("match", Array(line.text[match]), to: &json)
        json.member("start", match.lowerBound)
        json.member("end", match.upperBound)
      }
    }
  }

  /// Appends the object after the lines of an entry.
  public func appendEnd(
    _ outcome: EntrySearch.Outcome, of entry: Entry, into buffer: inout TextBuffer
  ) {
    append("end", into: &buffer) { json in
      write(entry, to: &json)
      json.null("binary_offset")
      write(outcome, entries: 1, found: outcome.lines > 0 ? 1 : 0, to: &json)
    }
  }

  /// Appends the last object.
  ///
  /// - Parameters:
  ///   - total: What was found in all entries.
  ///   - entries: The number of entries searched.
  ///   - found: The number of entries with a match.
  public func appendSummary(
    _ total: EntrySearch.Outcome, entries: Int64, found: Int64, into buffer: inout TextBuffer
  ) {
    append("summary", into: &buffer) { json in
      json.member("schema", word: "urlcache-admin.grep/1")
      write(total, entries: entries, found: found, to: &json)
    }
  }

  private func append(
    _ type: String, into buffer: inout TextBuffer, _ members: (inout JSONWriter) -> Void
  ) {
    JSONWriter.append(to: &buffer.bytes, .hostileText) { json in
      json.object { json in
        json.member("type", word: type)
        json.object("data") { members(&$0) }
      }
      json.endLine()
    }
  }

  private func write(_ entry: Entry, to json: inout JSONWriter) {
    json.member(id: entry.id)
    write("path", entry.url.map { secrets.url($0, for: .programs).bytes } ?? [], to: &json)
  }

  private func write(
    _ outcome: EntrySearch.Outcome, entries: Int64, found: Int64, to json: inout JSONWriter
  ) {
    json.object("stats") { json in
      json.member("searches", entries)
      json.member("searches_with_match", found)
      json.member("bytes_searched", outcome.bytes)
      json.member("matched_lines", outcome.lines)
      json.member("matches", outcome.matches)
    }
  }

  /// Writes text as `{"text":…}`, or bytes that are not UTF-8 in Base64 as `{"bytes":…}`.
  private func write(_ name: StaticString, _ text: [UInt8], to json: inout JSONWriter) {
    json.object(name) { json in
      guard ByteString(text).string == nil else { return json.member("text", utf8OrBase64: text) }
      json.key("bytes")
      json.base64(text)
    }
  }
}
