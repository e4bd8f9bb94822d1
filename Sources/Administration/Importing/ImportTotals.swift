public import Bytes
import Files
import ResponseStorage
import SQLite

/// The sums of planned entries.
struct ImportTotals {
  /// The sums of the entries with an action.
  private struct Sum {
    var entries = 0
    var bodyBytes: ByteCount = 0
  }

  /// The maximum number of rejected entries that are kept.
  private static let mostRejected = 10

  private var sums: [ImportPlan.Action: Sum] = [:]
  private var losses: [ResponseLoss: Int] = [:]
  /// The number of entries that are skipped for another entry of the archive.
  private(set) var duplicates = 0
  /// The number of the last entry that is imported.
  private(set) var lastWritten: Int64?
  /// The first entries that are rejected.
  private(set) var rejected: [ImportPlan.Entry] = []

  /// Adds an entry. Entries must be added in their order.
  mutating func insert(_ entry: ImportPlan.Entry) {
    sums[entry.action, default: Sum()].entries += 1
    sums[entry.action, default: Sum()].bodyBytes += entry.size ?? 0
    if entry.isDuplicate { duplicates += 1 }
    if entry.action == .reject, rejected.count < Self.mostRejected { rejected.append(entry) }
    guard entry.isWritten else { return }
    lastWritten = entry.number
    for loss in entry.losses { losses[loss, default: 0] += 1 }
  }

  /// The number of entries with an action.
  func count(_ action: ImportPlan.Action) -> Int { sums[action]?.entries ?? 0 }

  /// The total size of the bodies of the entries with an action.
  func bodyBytes(_ action: ImportPlan.Action) -> ByteCount { sums[action]?.bodyBytes ?? 0 }

  /// The number of imported entries that lose a part.
  func count(_ loss: ResponseLoss) -> Int { losses[loss] ?? 0 }
}

/// The result of an import.
public struct ImportResult {
  /// An entry that was not imported because the cache had changed since the plan was made.
  struct Entry: ScratchRow {
    /// Its number in the archive.
    var number: Int64
  }

  /// Those entries, in the order of the archive.
  let entries: Scratch.List<Entry>

  /// The number of entries that were not imported because the cache had changed since the plan was made.
  public var changed: Int { entries.count }

  /// Creates the result of a complete import.
  public init() { entries = Scratch.List() }

  init(_ entries: Scratch.List<Entry>) { self.entries = entries }
}

extension ImportResult.Entry {
  func pack(into values: inout PackedValues) { values.append(number) }

  init(from reader: inout PackedReader) throws(PackedReader.Failure) {
    number = try reader.number()
  }
}

/// What an import does with an entry if the cache has a different entry with the same key.
public enum ImportConflictRule: String, Hashable, Sendable, CaseIterable {
  /// The entry of the cache is kept.
  case skip
  /// The entry of the archive replaces it.
  case replace
  /// The entry that was first stored later is kept; the entry of the cache if neither was.
  case newer
  /// Nothing is imported.
  case error
}

/// An entry of an archive has the key of an entry of the cache, which the rule forbids.
public struct ImportConflict: Error, Hashable, Sendable {
  /// The URL of the entry.
  public var url: ByteString?
  /// Whether the other entry is also in the archive.
  public var isInArchive = false
}
