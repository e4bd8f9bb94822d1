import Administration
import Bytes
import ResponseStorage

/// A list as one JSON object, with one response a line.
struct JSONRenderer: ResponseRenderer {
  private let entry: EntryJSON
  private let store: StoreDescription
  private var isFirst = true

  init(
    columns: [Column], secrets: SecretPolicy, now: Timestamp,
    expiryRules: [UserInfoExpiry.Rule], store: StoreDescription
  ) {
    entry = EntryJSON(
      columns: columns, secrets: secrets, now: now, expiryRules: expiryRules)
    self.store = store
  }

  mutating func begin(into buffer: inout TextBuffer) {
    buffer.append("{\"schema\":\"urlcache-admin.list/1\",\"cache\":")
    buffer.append(json: store)
    buffer.append(",\"entries\":[")
  }

  mutating func render(_ response: borrowing StoredResponse, into buffer: inout TextBuffer) {
    buffer.append(isFirst ? "\n" : ",\n")
    isFirst = false
    buffer.append(UInt8(ascii: "{"))
    entry.append(response, into: &buffer)
    buffer.append(UInt8(ascii: "}"))
  }

  mutating func finish(summary: ListSummary, into buffer: inout TextBuffer) {
    buffer.append(isFirst ? "],\"shown\":" : "\n],\"shown\":")
    buffer.append(integer: summary.shown)
    buffer.append(",\"selected\":")
    buffer.append(integer: summary.selected)
    buffer.append(",\"total\":")
    buffer.append(integer: summary.total)
    buffer.append(",\"body_bytes\":")
    buffer.append(plain: summary.bodyBytes)
    buffer.append("}\n")
  }
}
