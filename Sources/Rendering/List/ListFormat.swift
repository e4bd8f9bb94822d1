public import Administration
public import Bytes
public import ResponseStorage

/// The summary at the end of a list.
public struct ListSummary: Hashable, Sendable {
  /// The number of responses that were shown.
  public var shown: Int64

  /// The number of responses that were selected, which may be more than were shown.
  public var selected: Int64

  /// The number of responses in the store, or of those that were counted.
  public var total: Int64

  /// Whether the store has more responses than were counted.
  public var hasUncounted = false

  /// The total size of the bodies of the responses that were shown.
  public var bodyBytes: ByteCount

  /// Which responses come first, such as `smallest`; `nil` if no order says so.
  public var first: String?

  /// Creates a summary.
  public init(shown: Int64, selected: Int64, total: Int64, bodyBytes: ByteCount) {
    self.shown = shown
    self.selected = selected
    self.total = total
    self.bodyBytes = bodyBytes
  }

  /// The summary for people: `741 of 4,000 entries, 2.2 MiB` or, if a limit left some out, `5 shown of 741 selected,
  /// 4,000 in all, smallest first; 12 KiB shown`. Of a store with many entries, it is `50 shown of over 20,000 entries`.
  public var text: String {
    var text = TextBuffer()
    text.append(grouped: shown)
    // Three numbers only where they differ: a limit must not pass for the whole of a selection.
    if shown == selected, !(hasUncounted && selected == total) {
      text.append(" of ")
      appendTotal(to: &text)
      text.append(" entries, ")
      text.append(byteCount: bodyBytes)
    } else {
      text.append(" shown of ")
      if selected == total {
        appendTotal(to: &text)
        text.append(" entries")
      } else {
        text.append(grouped: selected)
        text.append(" selected, ")
        appendTotal(to: &text)
        text.append(" in all")
      }
      if let first { text.append(", \(first) first") }
      text.append("; ")
      text.append(byteCount: bodyBytes)
      text.append(" shown")
    }
    return ByteString(text.bytes).string ?? ""
  }

  private func appendTotal(to text: inout TextBuffer) {
    if hasUncounted { text.append("over ") }
    text.append(grouped: total)
  }
}

extension ListSummary {
  /// The summary of a list of recovered entries for people: `12 entries found, 2.2 MiB`.
  public var recoveredText: String {
    var text = TextBuffer()
    text.append(grouped: shown)
    if shown != selected {
      text.append(" shown of ")
      text.append(grouped: selected)
    }
    text.append(selected == 1 ? " entry found, " : " entries found, ")
    text.append(byteCount: bodyBytes)
    return ByteString(text.bytes).string ?? ""
  }
}

/// A type that renders responses one after the other.
public protocol ResponseRenderer {
  /// Appends the text before the first response.
  mutating func begin(into buffer: inout TextBuffer)

  /// Appends a response, or keeps it until the column widths are known.
  mutating func render(_ response: borrowing StoredResponse, into buffer: inout TextBuffer)

  /// Appends the text after the last response.
  mutating func finish(summary: ListSummary, into buffer: inout TextBuffer)
}

/// A renderer whose lines are independent of each other, so that several threads can render.
public protocol LineRenderer: ResponseRenderer, Sendable {
  /// Appends one response.
  func render(_ response: borrowing StoredResponse, into buffer: inout TextBuffer)
}

/// A renderer of a list, by whether threads can share the work.
public enum ListRenderer {
  /// Several threads may each render some of the responses.
  case lines(any LineRenderer)
  /// One thread must render all responses.
  case whole(any ResponseRenderer)

  /// The renderer, for rendering responses one after the other.
  public var renderer: any ResponseRenderer {
    switch self {
    case .lines(let renderer): renderer
    case .whole(let renderer): renderer
    }
  }
}

/// The formats of a list of responses.
public enum ListFormat: String, Hashable, Sendable, CaseIterable {
  case table
  case json
  case ndjson
  case csv
  case tsv
  case urls
  case ncdu

  /// The default columns of the format.
  public var standardColumns: [EntryField] {
    switch self {
    case .table: EntryField.standard
    case .json, .ndjson, .csv, .tsv: EntryField.standardJSON
    case .urls, .ncdu: ["url"]
    }
  }

  /// Creates a renderer for this format.
  ///
  /// - Parameters:
  ///   - columns: The columns, or `nil` for ``standardColumns``.
  ///   - secrets: Which secrets the list may contain.
  ///   - context: What else is known of the entries.
  ///   - store: The store that is listed.
  ///   - schema: The name of the schema of a JSON document.
  ///   - terminalWidth: The width to which URLs are shortened, or `nil` to show them in full.
  public func makeRenderer(
    columns: [EntryField]?, secrets: SecretPolicy, context: EntryContext, store: StoreDescription,
    schema: String = "list", terminalWidth: Int?
  ) -> ListRenderer {
    let columns = columns ?? standardColumns
    return switch self {
    case .table:
      .whole(
        TableRenderer(
          columns: columns, secrets: secrets, context: context, terminalWidth: terminalWidth))
    // Not by lines: whether a comma is needed depends on the entries before, so threads could not
    // write independently.
    case .json:
      .whole(
        JSONRenderer(
          columns: columns, secrets: secrets, context: context, store: store, schema: schema))
    case .ndjson: .lines(NDJSONRenderer(columns: columns, secrets: secrets, context: context))
    case .csv:
      .lines(DelimitedRenderer(.csv, columns: columns, secrets: secrets, context: context))
    case .tsv:
      .lines(DelimitedRenderer(.tsv, columns: columns, secrets: secrets, context: context))
    case .urls: .lines(URLsRenderer(secrets: secrets))
    case .ncdu: .whole(NcduRenderer(secrets: secrets, now: context.now, path: store.path))
    }
  }
}
