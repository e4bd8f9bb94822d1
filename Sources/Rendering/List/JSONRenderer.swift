import Administration
import Bytes
import JSON
import ResponseStorage

// One object and not an array, so that totals and the cache have a place, and members can be added
// later.
/// Renders a list as one JSON object, with one line for each response.
struct JSONRenderer: ResponseRenderer {
  private let entry: EntryJSON
  private let store: StoreDescription
  private let schema: String
  private var json = JSONStream(.hostileText)

  init(
    columns: [EntryField], secrets: SecretPolicy, context: EntryContext, store: StoreDescription,
    schema: String
  ) {
    entry = EntryJSON(columns: columns, secrets: secrets, context: context)
    self.store = store
    self.schema = schema
  }

  mutating func begin(into buffer: inout TextBuffer) {
    let (store, schema) = (store, schema)
    json.begin("entries", in: &buffer.bytes) {
      $0.member(schema: schema)
      $0.member("cache", store)
    }
  }

  mutating func render(_ response: borrowing StoredResponse, into buffer: inout TextBuffer) {
    let entry = entry
    json.append(to: &buffer.bytes) { json in
      json.object { entry.write(response, to: &$0) }
    }
  }

  mutating func finish(summary: ListSummary, into buffer: inout TextBuffer) {
    // The totals come last, as they are only known then, and the list may be larger than memory.
    json.end(in: &buffer.bytes) {
      $0.member("shown", summary.shown)
      $0.member("selected", summary.selected)
      $0.member("total", summary.total)
      $0.member("body_bytes", summary.bodyBytes)
    }
  }
}

// Every line is complete, so that `jq` or `grep` can begin before the cache has been read to its
// end.
/// Renders a list as JSON objects, one line for each response.
struct NDJSONRenderer: LineRenderer {
  private let entry: EntryJSON

  init(columns: [EntryField], secrets: SecretPolicy, context: EntryContext) {
    entry = EntryJSON(columns: columns, secrets: secrets, context: context)
  }

  mutating func begin(into buffer: inout TextBuffer) {}

  func render(_ response: borrowing StoredResponse, into buffer: inout TextBuffer) {
    buffer.writeJSON { json in
      json.object { entry.write(response, to: &$0) }
      json.endLine()
    }
  }

  // No summary: every line is an entry to whoever reads it.
  mutating func finish(summary: ListSummary, into buffer: inout TextBuffer) {}
}

/// Renders a list as URLs, one on each line, with everything but printable ASCII percent-encoded.
///
/// Responses without a known URL are left out.
struct URLsRenderer: LineRenderer {
  let secrets: SecretPolicy

  mutating func begin(into buffer: inout TextBuffer) {}

  func render(_ response: borrowing StoredResponse, into buffer: inout TextBuffer) {
    guard let url = response.url else { return }
    // Not masked by default: the list is made for tools such as `xargs curl`, for which a masked
    // URL is useless.
    let bytes = secrets.url(url, for: .programs).bytes
    // A line feed in a URL would become two lines, and a space two arguments. Encoded, every line
    // is exactly one URL.
    if PrintableASCII.isAll(of: bytes.span, but: UInt8(ascii: " ")) {
      buffer.append(contentsOf: bytes)
      buffer.append(UInt8(ascii: "\n"))
      return
    }
    buffer.append(contentsOf: bytes.percentEscaped { $0 > 0x20 && $0 < 0x7F })
    buffer.append(UInt8(ascii: "\n"))
  }

  mutating func finish(summary: ListSummary, into buffer: inout TextBuffer) {}
}
