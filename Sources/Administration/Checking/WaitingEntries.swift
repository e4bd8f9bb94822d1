import Bytes
import ResponseStorage

/// The findings on entries, which wait for those on the store as a whole: damage, and files that no entry names.
///
/// Only after all entries is it known which files these are, and a cache can have any number of findings. So a usual one takes
/// 24 bytes and its URL; one that a repair removes is kept as it is.
struct WaitingEntries {
  /// What a finding has in common with others.
  private struct Kind: Hashable {
    let code: Finding.Code
    let message: String
    let isByRule: Bool
  }

  /// A finding, or one entry with all of its findings.
  private struct Item {
    /// The index of its kind; ``entry`` for an entry.
    let kind: UInt32
    /// The length of the URL; `nil` if there is none.
    let urlLength: UInt32?
    /// The id of the entry; for one that is kept as it is, its index.
    let number: Int64

    static let entry = UInt32.max
  }

  private var items: [Item] = []
  private var kinds: [Kind] = []
  private var numbers: [Kind: UInt32] = [:]
  private var urls: [UInt8] = []
  private var entries: [CheckTally.Checked] = []
  private var entryBytes = 0

  /// Whether there are so many findings that those on the store should be searched for at once.
  var isFull: Bool {
    items.count * MemoryLayout<Item>.stride + urls.count >= 24 << 20 || kinds.count >= 1 << 10
      || entries.count >= 1 << 13 || entryBytes >= 4 << 20
  }

  /// Appends the findings on an entry.
  mutating func append(_ checked: CheckTally.Checked) {
    let findings = (checked.byRule.map { [$0] } ?? []) + checked.findings
    guard checked.entry == nil, findings.allSatisfy(Self.isUsual) else {
      items.append(Item(kind: Item.entry, urlLength: nil, number: Int64(entries.count)))
      entries.append(checked)
      entryBytes += findings.first?.url?.bytes.count ?? 0
      return
    }
    for (index, finding) in findings.enumerated() {
      guard case .row(let number)? = finding.id else { continue }
      let isByRule = index == 0 && checked.byRule != nil
      let kind = Kind(code: finding.code, message: finding.message, isByRule: isByRule)
      items.append(
        Item(
          kind: self.number(of: kind),
          urlLength: finding.url.map { UInt32($0.bytes.count) }, number: number))
      if let url = finding.url { urls += url.bytes }
    }
  }

  private static func isUsual(_ finding: Finding) -> Bool {
    guard case .row? = finding.id else { return false }
    return finding.path == nil && finding.orphan == nil
      && finding.url?.bytes.count ?? 0 <= UInt32.max
  }

  private mutating func number(of kind: Kind) -> UInt32 {
    if let number = numbers[kind] { return number }
    let number = UInt32(kinds.count)
    kinds.append(kind)
    numbers[kind] = number
    return number
  }

  /// Calls `body` with the findings, in the order in which they were appended. Those of one entry can come one by one.
  func forEach(_ body: (CheckTally.Checked) throws -> Void) throws {
    var start = 0
    for item in items {
      guard item.kind != Item.entry else {
        try body(entries[Int(item.number)])
        continue
      }
      let (kind, end) = (kinds[Int(item.kind)], start + Int(item.urlLength ?? 0))
      let finding = Finding(
        kind.code, kind.message, id: .row(item.number),
        url: item.urlLength.map { _ in ByteString(Array(urls[start..<end])) })
      start = end
      try body(
        kind.isByRule
          ? .init(byRule: finding, findings: [], entry: nil)
          : .init(byRule: nil, findings: [finding], entry: nil))
    }
  }
}
