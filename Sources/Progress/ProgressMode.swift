/// When and how progress is shown.
public enum ProgressMode: String, Hashable, Sendable, CaseIterable {
  /// On a terminal, once the work takes long.
  case auto
  /// From the beginning, and not only on a terminal.
  case always
  /// Not at all.
  case never
  /// As lines of JSON, for programs.
  case json
}
