import Bytes

/// A table of a report as text, for all output formats.
struct ReportTable: Hashable, Sendable {
  /// A row of a table.
  struct Row: Hashable, Sendable {
    /// The name of the row.
    let name: ByteString
    // Markdown shows such a name as code and HTML isolates its direction, as text from right to
    // left would turn the rest of the line around.
    /// Whether the name is text from the cache.
    var isFromCache = false
    /// The meaning of the name, if it needs an explanation.
    var meaning: String?
    /// A text for each column except the first.
    let values: [String]
  }

  /// The column heads.
  let columns: [String]
  /// The rows below the heads.
  let rows: [Row]
}
