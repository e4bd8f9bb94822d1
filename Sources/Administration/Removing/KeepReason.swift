public import Bytes
import ResponseStorage

/// Why an entry is kept when others are removed.
public enum KeepReason: String, Hashable, Sendable, CaseIterable {
  /// The user did not select it.
  case notSelected = "not-selected"
  /// It is too young; everything else about it is selected.
  case tooYoung = "too-young"
  /// Its age is unknown; everything else about it is selected.
  case unknownAge = "unknown-age"
  /// Its freshness is unknown; everything else about it is selected.
  case unknownFreshness = "unknown-freshness"
  /// The cache is within its limits with it.
  case withinLimits = "within-limits"
  /// A limit cannot be met even if it is removed.
  case limitCannotBeMet = "limit-cannot-be-met"
  /// A rule keeps it.
  case keptByRule = "kept-by-rule"
  /// It is selected, but its path is no regular file.
  case notARegularFile = "not-a-regular-file"
  /// It is selected, but the configuration pins its URL.
  case pinned

  /// Creates the reason why a selection excludes a response; `nil` if it selects it.
  init?(_ decision: Selection.Decision) {
    switch decision {
    case .selected: return nil
    case .notNamed, .notSelected: self = .notSelected
    case .tooYoung: self = .tooYoung
    case .unknownTime: self = .unknownAge
    case .unknownFreshness: self = .unknownFreshness
    }
  }

  /// Creates the reason why a selected response is kept; `nil` if it is removed.
  init?(ofSelected response: borrowing StoredResponse) {
    // In an Apple store, every row is an entry. Only in a folder can anything have the name of one.
    guard case .file = response.id, response.file == nil else { return nil }
    self = .notARegularFile
  }
}

/// The number and the size of kept entries.
public struct KeptEntries: Hashable, Sendable {
  /// The number of entries.
  public var entries: Int64
  /// The sizes of their bodies, in bytes.
  public var bodyBytes: ByteCount

  /// Creates a total.
  public init(entries: Int64 = 0, bodyBytes: ByteCount = 0) {
    self.entries = entries
    self.bodyBytes = bodyBytes
  }

  /// Subtracts an entry with a body of this size, or without a body.
  mutating func remove(_ size: ByteCount?) {
    entries -= 1
    bodyBytes -= size ?? 0
  }

  /// Subtracts another total.
  mutating func remove(_ others: KeptEntries) {
    entries -= others.entries
    bodyBytes -= others.bodyBytes
  }

  /// Adds another total.
  mutating func insert(_ others: KeptEntries) {
    entries += others.entries
    bodyBytes += others.bodyBytes
  }

  /// Adds an entry with a body of this size, or without a body.
  mutating func insert(_ size: ByteCount?) {
    entries += 1
    bodyBytes += size ?? 0
  }
}
