import Bytes
import Files
import ResponseArchives
import ResponseStorage
import SQLite
import TestSupport
import Testing

@testable import Administration

@Suite struct ImportPlanTests {
  @Test(arguments: ImportConflictRule.allCases)
  func `entries with equal keys are decided as one after the other`(_ rule: ImportConflictRule)
    throws
  {
    for seed in 0..<1_500 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      let count = Int.random(in: 0..<12, using: &random)
      let entries = ImportedEntry.entries(count, &random)
      var archive = ListedArchive(entries)
      archive.damage = Bool.random(using: &random) ? .random(in: 0...count, using: &random) : nil
      let target = CollapsingTarget(&random)
      let isSalvaging = Bool.random(using: &random)
      let outcome = Self.outcome(of: archive, target, rule, isSalvaging)
      #expect(
        outcome == SequentialImport.outcome(of: archive, target, rule, isSalvaging), "seed \(seed)")
    }
  }

  @Test func `many entries are decided as few`() throws {
    for (seed, spread) in [(1, 3), (2, 20_000)] as [(UInt64, Int)] {
      var random = SplitMix64(seed: seed)
      let entries = ImportedEntry.entries(70_000, spread: spread, repeating: false, &random)
      let (archive, target) = (ListedArchive(entries), CollapsingTarget(&random))
      let outcome = Self.outcome(of: archive, target, .replace, false)
      // Not within the expectation, which would print all entries.
      let isSame = outcome == SequentialImport.outcome(of: archive, target, .replace, false)
      #expect(isSame)
    }
  }

  @Test func `the sums are those of the entries`() throws {
    for seed in 0..<200 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      let entries = ImportedEntry.entries(12, repeating: false, &random)
      let plan = try Self.plan(ListedArchive(entries), CollapsingTarget(&random), .newer, false)
      var found: [ImportPlan.Entry] = []
      try plan.forEachEntry(after: ImportResult()) { entry, _ in found.append(entry) }
      for action in ImportPlan.Action.allCases {
        let those = found.filter { $0.action == action }
        #expect(plan.count(action) == those.count)
        #expect(plan.bodyBytes(action) == those.reduce(0) { $0 + ($1.size ?? 0) })
      }
      #expect(plan.duplicates == found.count { $0.action == .skip && $0.reason != nil })
      #expect(plan.lastWritten == found.last { $0.isWritten }?.number)
      #expect(plan.changesAnything == found.contains { $0.isWritten })
      #expect(plan.losses.map(\.loss) == (found.contains { $0.isWritten } ? [.userInfo] : []))
      #expect(plan.losses.allSatisfy { $0.entries == found.count { $0.isWritten } })
    }
  }

  @Test func `ten rejected entries are kept`() throws {
    var entries = ImportedEntry.distinct(30)
    for index in 15..<30 { entries[index].isRefused = true }
    let plan = try Self.plan(ListedArchive(entries), CollapsingTarget(), .skip, false)
    #expect(plan.rejected.map(\.number) == Array(16...25))
    #expect(plan.rejected.allSatisfy { $0.reason == "it is refused" })
    #expect(plan.count(.reject) == 15 && plan.lastWritten == 15)
  }

  @Test func `a result marks the entries that changed`() throws {
    let entries = ImportedEntry.distinct(5)
    let plan = try Self.plan(ListedArchive(entries), CollapsingTarget(), .skip, false)
    var changed = Scratch.List<ImportResult.Entry>.Writer()
    for number in [2, 5] as [Int64] { try changed.append(.init(number: number)) }
    let result = ImportResult(try changed.finish())
    var found: [Int64] = []
    try plan.forEachEntry(after: result) { if $1 { found.append($0.number) } }
    #expect(found == [2, 5] && result.changed == 2)
  }

  @Test func `a plan of many entries has all of them`() throws {
    let entries = ImportedEntry.distinct(10_000)
    let plan = try Self.plan(ListedArchive(entries), CollapsingTarget(), .skip, false)
    var numbers: [Int64] = []
    try plan.forEachEntry(after: ImportResult()) { entry, _ in numbers.append(entry.number) }
    #expect(numbers == Array(1...10_000))
  }

  @Test func `an entry is read as it was written`() throws {
    let digest = TextDigest("key")
    let file = FileVersion(number: .max, modified: -5, size: 9)
    let entries: [ImportPlan.Entry] =
      [
        .init(number: 1, action: .otherMethod),
        .init(
          number: 1 << 40, url: "https://a.example/", size: 0, action: .reject, reason: "it is é",
          losses: ResponseLoss.allCases, archived: Timestamp(secondsSince2001: -0.5), key: digest,
          standing: .init(id: .row(-3), key: "key", stored: .epoch)),
        .init(
          number: 3, url: "", size: ByteCount(1 << 40), action: .replace, losses: [.other],
          key: digest,
          standing: .init(id: .file("name"), key: nil, stored: nil, file: file)),
      ] + ImportPlan.Action.allCases.map { .init(number: 4, action: $0) }
    var values = PackedValues()
    for entry in entries { entry.pack(into: &values) }
    var rest = PackedReader(values.bytes)
    for entry in entries { #expect(try ImportPlan.Entry(from: &rest) == entry) }
    #expect(rest.count == 0)
  }

  private static func plan(
    _ archive: ListedArchive, _ target: CollapsingTarget, _ rule: ImportConflictRule,
    _ isSalvaging: Bool
  ) throws -> ImportPlan {
    try ImportPlan(
      importing: archive, Selection(), into: target, rule: rule, now: .epoch,
      salvaging: isSalvaging)
  }

  private static func outcome(
    of archive: ListedArchive, _ target: CollapsingTarget, _ rule: ImportConflictRule,
    _ isSalvaging: Bool
  ) -> SequentialImport.Outcome {
    do {
      let plan = try plan(archive, target, rule, isSalvaging)
      var outcome = SequentialImport.Outcome()
      try plan.forEachEntry(after: ImportResult()) { entry, _ in
        outcome.entries.append(
          .init(
            number: entry.number, action: entry.action, reason: entry.reason,
            replaced: entry.replaced?.id))
      }
      (outcome.archived, outcome.damage) = (plan.archivedEntries, plan.damage)
      return outcome
    } catch {
      return SequentialImport.Outcome(error: "\(error)")
    }
  }
}
