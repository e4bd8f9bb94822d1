public import ResponseStorage

extension RecoveredPlace {
  /// The place in words, for example `free page 7, offset 28900` or `log frame 12, page 5, offset 51234`.
  public var words: String {
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
