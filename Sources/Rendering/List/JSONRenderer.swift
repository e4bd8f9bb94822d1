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
    columns: [Column], secrets: SecretPolicy, now: Timestamp,
    expiryRules: [UserInfoExpiry.Rule], store: StoreDescription,
    schema: String
  ) {
    entry = EntryJSON(
      columns: columns, secrets: secrets, now: now, expiryRules: expiryRules)
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
