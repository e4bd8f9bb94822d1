import Administration
import Rendering
import ResponseArchives
import ResponseStorage

/// Searches entries on one thread, and renders what is found.
struct EntryGrep: Sendable {
  private let search: EntrySearch
  private let format: GrepFormat
  private var renderer: GrepRenderer

  /// What was found and has not been taken.
  var text: TextBuffer
  /// The counts of the entries that were searched.
  var tally = GrepTally()

  /// The size of ``text`` above which it is passed on.
  private static let mostText = 1 << 16

  init(_ search: EntrySearch, _ format: GrepFormat, _ renderer: GrepRenderer, style: TextStyle) {
    (self.search, self.format, self.renderer) = (search, format, renderer)
    text = TextBuffer(style: style)
  }

  /// Searches an entry.
  ///
  /// - Parameter flush: Takes ``text`` whenever there is much of it.
  /// - Throws: The error of a store that cannot be read, or any error of `flush`.
  mutating func search(
    _ response: borrowing StoredResponse, _ body: ScannedBody,
    _ flush: (inout TextBuffer) throws -> Void
  ) throws {
    let entry = GrepRenderer.Entry(id: response.id, url: response.url ?? response.key)
    renderer.beginEntry()
    var hasBegun = false
    let isJSON = format == .json
    func flushIfLarge(_ text: inout TextBuffer) throws {
      if text.bytes.count >= Self.mostText { try flush(&text) }
    }
    let outcome = try search.search(response, body) { hit in
      if isJSON {
        if !hasBegun { renderer.appendBegin(entry, into: &text) }
        hasBegun = true
        renderer.appendJSON(hit, of: entry, into: &text)
        try flushIfLarge(&text)
      } else {
        try renderer.append(hit, of: entry, into: &text, flushIfLarge)
      }
    }
    if isJSON {
      if hasBegun { renderer.appendEnd(outcome, of: entry, into: &text) }
    } else {
      renderer.append(outcome, of: entry, into: &text)
    }
    tally.count(outcome, of: entry.id)
    try flushIfLarge(&text)
  }
}

extension EntryGrep: EntryWork {
  mutating func process(
    _ response: borrowing StoredResponse, _ body: ScannedBody,
    _ send: ([UInt8], Int) throws -> Void
  ) throws {
    try search(response, body) { try Self.take(&$0, send) }
  }

  mutating func endBatch(_ send: ([UInt8], Int) throws -> Void) throws -> GrepTally {
    if !text.bytes.isEmpty { try Self.take(&text, send) }
    defer { tally = GrepTally() }
    return tally
  }

  private static func take(
    _ text: inout TextBuffer, _ send: ([UInt8], Int) throws -> Void
  ) throws {
    let bytes = text.bytes
    text.removeAll()
    try send(bytes, bytes.count)
  }
}
