public import Bytes
import ResponseStorage

/// Why an entry is kept when others are removed.
public enum KeepReason: String, Hashable, Sendable, CaseIterable {
  /// The user did not select it.
  case notSelected = "not-selected"
  /// It is selected but for its age.
  case tooYoung = "too-young"
  /// It is selected but for its age, which is not known.
  case unknownAge = "unknown-age"
  /// It is selected but for its freshness, which is not known.
  case unknownFreshness = "unknown-freshness"
  /// The limits are kept with it.
  case withinLimits = "within-limits"
  /// A limit cannot be met even without it.
  case limitCannotBeMet = "limit-cannot-be-met"
  /// A rule keeps it.
  case keptByRule = "kept-by-rule"
  /// It is selected, but `URLCache` does not see it, and only its id selects it for removal.
  case orphan
  /// It is selected, but what has the name of its file is no regular file.
  case notARegularFile = "not-a-regular-file"
  /// It is selected, but the configuration pins its URL.
  case pinned

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

  /// Why a response is kept although it is selected; `nil` if it is removed.
  ///
  /// - Parameter names: What the user named.
  init?(ofSelected response: borrowing StoredResponse, among names: EntryNames?) {
    guard case .file = response.id else { return nil }
    if response.isOrphan, names?.contains(response.id) != true {
      self = .orphan
    } else if response.file == nil {
      self = .notARegularFile
    } else {
      return nil
    }
  }
}

/// Entries that are kept, added up.
public struct KeptEntries: Hashable, Sendable {
  /// How many there are.
  public var entries: Int64
  /// The sizes of their bodies, in bytes.
  public var bodyBytes: ByteCount

  /// Creates a sum.
  public init(entries: Int64 = 0, bodyBytes: ByteCount = 0) {
    self.entries = entries
    self.bodyBytes = bodyBytes
  }

  /// Takes out an entry without a body.
  mutating func removeOne() { entries -= 1 }

  /// Adds others.
  mutating func insert(_ others: KeptEntries) {
    entries += others.entries
    bodyBytes += others.bodyBytes
  }

  /// Adds an entry with a body of a size, or without one.
  mutating func insert(_ size: ByteCount?) {
    entries += 1
    bodyBytes += size ?? 0
  }
}
