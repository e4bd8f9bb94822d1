import ResponseStorage

/// Why an entry stays in a cache when others go.
public enum KeepReason: String, Hashable, Sendable, CaseIterable {
  /// It is none of those that the user selected.
  case notSelected = "not-selected"
  /// It is selected but for its age.
  case tooYoung = "too-young"
  /// It is selected but for its age, which is not known.
  case unknownAge = "unknown-age"
  /// It is selected but for its freshness, which is not known.
  case unknownFreshness = "unknown-freshness"
  /// The limits are kept with it.
  case withinLimits = "within-limits"

  /// Why a selection leaves a response where it is; `nil` if it selects it.
  init?(_ decision: Selection.Decision) {
    switch decision {
    case .selected: return nil
    case .notNamed, .notSelected: self = .notSelected
    case .tooYoung: self = .tooYoung
    case .unknownTime: self = .unknownAge
    case .unknownFreshness: self = .unknownFreshness
    }
  }
}

/// Entries that stay, added up.
public struct KeptEntries: Hashable, Sendable {
  /// How many there are.
  public var entries: Int64
  /// The sizes of their bodies, in bytes.
  public var bodyBytes: Int64

  /// Creates a sum.
  public init(entries: Int64 = 0, bodyBytes: Int64 = 0) {
    self.entries = entries
    self.bodyBytes = bodyBytes
  }

  /// Adds an entry with a body of a size, or without one.
  mutating func insert(_ size: Int64?) {
    entries += 1
    bodyBytes = bodyBytes.addingClamped(size ?? 0)
  }
}
