@testable import Administration
import Bytes
import ResponseStorage
import TestSupport
import Testing

@Suite struct RemovalEntryListTests {
  @Test func `entries are read back with all their fields`() throws {
    for seed in 0..<2_000 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      let entries = (0..<3).map { Self.entry($0, &random) }
      #expect(try RemovalPlan.EntryList(entries).array == entries, "seed \(seed)")
    }
  }

  @Test func `totals are those of all entries`() throws {
    var random = SplitMix64(seed: 1)
    // More than stays in memory.
    let entries = (0..<5_000).map { Self.entry($0, &random) }
    let list = try RemovalPlan.EntryList(entries)
    #expect(list.count == 5_000 && !list.isEmpty)
    func total(_ bytes: (RemovalPlan.Entry) -> ByteCount) -> ByteCount {
      entries.reduce(0) { $0 + bytes($1) }
    }
    #expect(list.bodyBytes == total { $0.size ?? 0 })
    // The file of a shared body is freed with the last of its entries, which the list does not know.
    #expect(
      list.fileBytes
        == total { entry in
          let isShared = entry.share.sharedFile != nil && entry.hasBodyFile
          return entry.returnedBytes - (isShared ? entry.size ?? 0 : 0)
        })
    let sorted = entries.enumerated().sorted {
      let sizes = [$0, $1].map { $0.element.size ?? 0 }
      return sizes[0] == sizes[1] ? $0.offset < $1.offset : sizes[0] > sizes[1]
    }
    #expect(list.largest == sorted.prefix(10).map(\.element))
  }

  @Test func `merged lists are in order, and have each id once`() throws {
    var random = SplitMix64(seed: 2)
    let all = (0..<300).map { Self.entry($0, &random) }
    let first = all.filter { _ in Bool.random(using: &random) }
    let second = all.filter { _ in Bool.random(using: &random) }.map { entry in
      var entry = entry
      entry.reason = .missingBody
      return entry
    }
    let merged = try RemovalPlan.EntryList(first)
      .merging(RemovalPlan.EntryList(second)).array
    let ids = Set(first.map(\.version.id))
    let expected = (first + second.filter { !ids.contains($0.version.id) })
      .sorted { $0.version.id < $1.version.id }
    #expect(merged == expected)
  }

  /// An entry in which any field may be missing.
  private static func entry(_ number: Int, _ random: inout SplitMix64) -> RemovalPlan.Entry {
    func text() -> ByteString {
      let length = Int.random(in: 0...60, using: &random)
      return ByteString((0..<length).map { _ in UInt8.random(in: 0...255, using: &random) })
    }
    func time() -> Timestamp? {
      Timestamp(secondsSince1970: Double.random(in: -6e10...2e11, using: &random))
    }
    let url = Bool.random(using: &random) ? text() : nil
    let keys = [nil, url, text()]
    let file = FileVersion(
      number: random.next(), modified: Int64(bitPattern: random.next()),
      size: ByteCount(Int.random(in: 0...1_000, using: &random)))
    // Ids of both kinds, in ascending order.
    let name = ByteString("\(1_000_000 + number)")
    var entry = RemovalPlan.Entry(
      version: ResponseVersion(
        id: number < 2_500 ? .row(Int64(number) - 1_000) : .file(name),
        key: keys[Int.random(in: 0..<3, using: &random)],
        stored: Bool.random(using: &random) ? time() : nil,
        file: Bool.random(using: &random) ? file : nil),
      url: url,
      size: Bool.random(using: &random)
        ? ByteCount(Int.random(in: 0...1_000, using: &random)) : nil,
      hasBodyFile: .random(using: &random),
      time: Bool.random(using: &random) ? time() : nil,
      state: ([nil] + ResponseFreshness.State.allCases).randomElement(using: &random) ?? nil,
      reason: RemovalPlan.Reason.allCases.randomElement(using: &random) ?? .selected)
    entry.share = EntryShare(
      pages: ByteCount(Int.random(in: 0...9_000, using: &random)),
      file: ByteCount(Int.random(in: 0...9_000, using: &random)),
      sharedFile: Bool.random(using: &random) ? text() : nil)
    if Bool.random(using: &random), let fate = EntryRule.Fate.allCases.randomElement(using: &random)
    {
      entry.verdict = EntryRules.Verdict(rule: .random(in: 1 ... .max, using: &random), fate: fate)
    }
    return entry
  }
}
