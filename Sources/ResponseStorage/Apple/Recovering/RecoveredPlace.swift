/// Where the remains of an entry were found.
struct RecoveredPlace: Hashable, Sendable {
  /// A file of a database.
  enum File: String, Hashable, Sendable, CaseIterable {
    case database
    case log
    case journal

    /// What is added to the name of the database.
    var suffix: String {
      switch self {
      case .database: ""
      case .log: "-wal"
      case .journal: "-journal"
      }
    }
  }

  /// What the page is used for now.
  enum Kind: String, Hashable, Sendable, CaseIterable {
    /// An earlier state of a page, in the log, in the journal, or in the database below the log.
    case earlierPage = "earlier-page"
    /// A page on the free list.
    case freePage = "free-page"
    /// A page of which the database does not know what it is used for.
    case lostPage = "lost-page"
    /// Bytes between the cells of a page, which belong to no row.
    case slack
    /// A page of the database that SQLite would show if the database were not damaged.
    case page
  }

  /// The file.
  var file: File

  /// What the page is used for now.
  var kind: Kind

  /// The number of the page.
  var page: UInt32

  /// The number of the frame of the log.
  var frame: Int?

  /// Where the record begins in the file.
  var offset: Int64
}

extension RecoveredPlace {
  /// The place in words, for example `free page 7, offset 28900` or `log frame 12, page 5, offset 51234`.
  var words: String {
    let offset = "page \(page), offset \(offset)"
    switch (file, kind) {
    case (.log, .slack): return "slack in log frame \(frame ?? 0), \(offset)"
    case (.log, _): return "log frame \(frame ?? 0), \(offset)"
    case (.journal, _): return "journal, \(offset)"
    case (.database, .earlierPage): return "earlier version in the database, \(offset)"
    case (.database, .freePage): return "free \(offset)"
    case (.database, .lostPage): return "lost \(offset)"
    case (.database, .slack): return "slack in \(offset)"
    case (.database, .page): return offset
    }
  }
}
