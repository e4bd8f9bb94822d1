import Bytes

/// A table of a report in words, which each format writes in its own way.
struct ReportTable: Hashable, Sendable {
  /// A line of a table.
  struct Row: Hashable, Sendable {
    /// What the line is about.
    let name: ByteString
    /// Whether the name is text from the cache.
    var isFromCache = false
    /// What the name means, where that has to be said.
    var meaning: String?
    /// A text for each column but the first.
    let values: [String]
  }

  /// The heads of the columns.
  let columns: [String]
  /// The lines below the heads.
  let rows: [Row]
}
