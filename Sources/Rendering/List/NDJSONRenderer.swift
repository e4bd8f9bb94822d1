import Administration
import Bytes
import ResponseStorage

/// A list as JSON objects, one response a line.
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
    buffer.append(UInt8(ascii: "{"))
    entry.append(response, into: &buffer)
    buffer.append("}\n")
  }

  mutating func finish(summary: ListSummary, into buffer: inout TextBuffer) {}
}
