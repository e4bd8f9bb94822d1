import Administration
import Bytes
import JSON
import ResponseStorage

// Every line is complete, so that `jq` or `grep` can begin before the cache has been read to its
// end.
/// Renders a list as JSON objects, one line for each response.
struct NDJSONRenderer: LineRenderer {
  private let entry: EntryJSON

  init(
    columns: [Column], secrets: SecretPolicy, now: Timestamp,
    expiryRules: [UserInfoExpiry.Rule]
  ) {
    entry = EntryJSON(
      columns: columns, secrets: secrets, now: now, expiryRules: expiryRules)
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
