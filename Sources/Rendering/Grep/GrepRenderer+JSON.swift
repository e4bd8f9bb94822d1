public import Administration
import Bytes
import JSON
import Matching
import ResponseStorage

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
