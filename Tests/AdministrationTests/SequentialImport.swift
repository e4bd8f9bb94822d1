import Bytes
import ResponseArchives
import ResponseStorage

@testable import Administration

/// The decisions of an import, made one entry after the other with everything in memory.
struct SequentialImport {
  /// What a plan decides.
  struct Outcome: Equatable {
    struct Entry: Equatable {
      var number: Int64
      var action: ImportPlan.Action
      var reason: String?
      var replaced: StoredResponse.ID?
    }

    var entries: [Entry] = []
    var archived: Int64 = 0
    var damage: String?
    var error: String?
  }

  private let target: CollapsingTarget
  private let rule: ImportConflictRule
  private var outcome = Outcome()
  private var keys: Set<ByteString> = []
  /// The indices of the entries to import so far, by their keys in the cache.
  private var earlier: [ByteString: Int] = [:]
  private var times: [Timestamp?] = []

  /// Returns the decisions about an archive.
  static func outcome(
    of archive: ListedArchive, _ target: CollapsingTarget, _ rule: ImportConflictRule,
    _ isSalvaging: Bool
  ) -> Outcome {
    var sequence = SequentialImport(target: target, rule: rule)
    do {
      try archive.forEachListed { entry in
        guard sequence.keys.insert(entry.key).inserted else {
          throw ResponseArchiveError(
            .damaged, at: archive.description.path,
            "entry \(sequence.outcome.archived + 1) has the same key as an earlier entry")
        }
        try sequence.decide(entry)
        sequence.outcome.archived += 1
      }
    } catch let error as ResponseArchiveError where isSalvaging {
      sequence.outcome.damage = error.description
    } catch {
      return Outcome(error: "\(error)")
    }
    return sequence.outcome
  }

  private init(target: CollapsingTarget, rule: ImportConflictRule) {
    (self.target, self.rule) = (target, rule)
  }

  private mutating func decide(_ entry: ImportedEntry) throws {
    var decided = Outcome.Entry(number: entry.number, action: .add)
    let key = target.collapsed(entry.key)
    if entry.isRefused {
      (decided.action, decided.reason) = (.reject, "it is refused")
    } else if let place = earlier[key] {
      if rule == .error { throw ImportConflict(url: entry.key, isInArchive: true) }
      if let time = times[place], entry.time.map({ $0 < time }) ?? true {
        (decided.action, decided.reason) = (.skip, Self.sameKey)
      } else {
        let first = outcome.entries[place]
        (decided.action, decided.replaced) = (first.action, first.replaced)
        outcome.entries[place].action = .skip
        outcome.entries[place].reason = Self.sameKey
        outcome.entries[place].replaced = nil
      }
    } else if let there = target.standing[key] {
      if there.contents == entry.contents, there.time == entry.time {
        decided.action = .unchanged
      } else {
        decided.action = try action(entry, instead: there)
      }
      if decided.action == .replace { decided.replaced = .row(there.number) }
    }
    if decided.action == .add || decided.action == .replace { earlier[key] = outcome.entries.count }
    outcome.entries.append(decided)
    times.append(entry.time)
  }

  private func action(
    _ entry: ImportedEntry, instead there: ImportedEntry
  ) throws -> ImportPlan.Action {
    switch rule {
    case .error: throw ImportConflict(url: entry.key)
    case .replace: return .replace
    case .skip: return .skip
    case .newer:
      guard let time = entry.time else { return .skip }
      return there.time.map { time > $0 } ?? true ? .replace : .skip
    }
  }

  private static let sameKey = "the cache cannot distinguish it from a newer entry in the archive"
}
