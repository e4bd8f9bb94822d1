public import Administration
public import Bytes
public import ResponseStorage

/// What a list says about itself at its end.
public struct ListSummary: Hashable, Sendable {
  /// The number of responses that were shown.
  public var shown: Int64

  /// The number of responses that were selected, which may be more than were shown.
  public var selected: Int64

  /// The number of responses that the store holds.
  public var total: Int64

  /// The sizes of the bodies of the responses that were shown.
  public var bodyBytes: ByteCount

  /// Creates a summary.
  public init(shown: Int64, selected: Int64, total: Int64, bodyBytes: ByteCount) {
    self.shown = shown
    self.selected = selected
    self.total = total
    self.bodyBytes = bodyBytes
  }

  /// The summary for people: `741 of 4,000 entries, 2.2 MiB`, or, where a limit left some out, `5 shown of 741
  /// selected, 4,000 in all; 12 KiB shown`.
  public var text: String {
    var text = TextBuffer()
    text.append(grouped: shown)
    if shown == selected {
      text.append(" of ")
      text.append(grouped: total)
      text.append(" entries, ")
      text.append(byteCount: bodyBytes)
    } else {
      text.append(" shown of ")
      text.append(grouped: selected)
      if selected == total {
        text.append(" entries; ")
      } else {
        text.append(" selected, ")
        text.append(grouped: total)
        text.append(" in all; ")
      }
      text.append(byteCount: bodyBytes)
      text.append(" shown")
    }
    return ByteString(text.bytes).string ?? ""
  }
}

/// Something that turns responses, one after the other, into text.
public protocol ResponseRenderer {
  /// Appends what comes before the first response.
  mutating func begin(into buffer: inout TextBuffer)

  /// Appends one response, or keeps it until the widths of the columns are known.
  mutating func render(_ response: borrowing StoredResponse, into buffer: inout TextBuffer)

  /// Appends what comes after the last response.
  mutating func finish(summary: ListSummary, into buffer: inout TextBuffer)
}

/// A renderer of which each response is a line that depends on no other, so that several threads can render.
public protocol LineRenderer: ResponseRenderer, Sendable {
  /// Appends one response.
  func render(_ response: borrowing StoredResponse, into buffer: inout TextBuffer)
}

/// What renders a list, by what it may be shared out to.
public enum ListRenderer {
  /// Threads may each render some of the responses.
  case lines(any LineRenderer)
  /// One thread renders all of the responses.
  case whole(any ResponseRenderer)

  /// What renders the responses one after the other.
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

  /// The columns that the format has if none are asked for.
  public var standardColumns: [Column] {
    switch self {
    case .table: Column.standard
    case .json, .ndjson, .csv, .tsv: Column.standardJSON
    case .urls, .ncdu: [.url]
    }
  }

  /// Creates what renders a list in this format.
  ///
  /// - Parameters:
  ///   - columns: The columns, or `nil` for ``standardColumns``.
  ///   - secrets: Which secrets the list may contain.
  ///   - now: The moment that ages are counted to.
  ///   - expiryRules: The expiries of an application's own, which count for whether a response is fresh.
  ///   - store: The store that is listed.
  ///   - terminalWidth: The width to shorten URLs for, or `nil` to leave them whole.
  public func makeRenderer(
    columns: [Column]?, secrets: SecretPolicy, now: Timestamp,
    expiryRules: [UserInfoExpiry.Rule] = UserInfoExpiry.known, store: StoreDescription,
    terminalWidth: Int?
  ) -> ListRenderer {
    let columns = columns ?? standardColumns
    return switch self {
    case .table:
      .whole(
        TableRenderer(
          columns: columns, secrets: secrets, now: now, expiryRules: expiryRules,
          terminalWidth: terminalWidth))
    case .json:
      .whole(
        JSONRenderer(
          columns: columns, secrets: secrets, now: now, expiryRules: expiryRules, store: store))
    case .ndjson:
      .lines(
        NDJSONRenderer(columns: columns, secrets: secrets, now: now, expiryRules: expiryRules))
    case .csv:
      .lines(
        DelimitedRenderer(
          .csv, columns: columns, secrets: secrets, now: now, expiryRules: expiryRules))
    case .tsv:
      .lines(
        DelimitedRenderer(
          .tsv, columns: columns, secrets: secrets, now: now, expiryRules: expiryRules))
    case .urls: .lines(URLsRenderer(secrets: secrets))
    case .ncdu: .whole(NcduRenderer(secrets: secrets, now: now, path: store.path))
    }
  }
}
