import Bytes
import ResponseStorage

/// Responses of which the selected ones were picked out, and the others counted.
///
/// Threads that read a store do that, each for some of the responses.
struct SelectionTally: ResponseTally {
  /// What entries are made by, of what is selected.
  struct Basis: Sendable {
    let selection: Selection
    let rules: EntryRules
    /// What is kept although it is selected.
    let pins: EntryNames
    let now: Timestamp
    let asksForFreshness: Bool
    /// Whether URL and key of an entry are noted.
    let naming: Bool

    func entry(
      of response: borrowing StoredResponse
    ) throws(URLExpression.Overrun) -> RemovalPlan.Entry {
      var entry = RemovalPlan.Entry(
        of: response, at: selection.ageBasis.time(of: response, now: now), naming: naming)
      if asksForFreshness {
        entry.state = ResponseFreshness(of: response, at: now, rules: selection.expiryRules)?.state
      }
      entry.verdict = try rules.verdict(on: response)
      return entry
    }
  }

  /// The number of all responses.
  private(set) var responses: Int64 = 0
  /// The number of those that `URLCache` does not see.
  private(set) var orphans: Int64 = 0
  /// The sizes of all bodies inside the database, in bytes.
  private(set) var inlineBytes: ByteCount = 0
  /// What is selected.
  private(set) var entries: [RemovalPlan.Entry] = []
  /// The expression that took too long; what came after it was not looked at.
  private var overrun: URLExpression.Overrun?
  /// What is named, and not selected all the same.
  private var named: [RemovalPlan.Entry] = []

  // What is not selected: each response is counted, and a dictionary would hash the reason of each.
  private var notSelected = KeptEntries()
  private var tooYoung = KeptEntries()
  private var others: [KeepReason: KeptEntries] = [:]

  private let basis: Basis

  private init(_ basis: Basis) {
    self.basis = basis
  }

  /// Picks out what is selected of a source, in ascending order of the ids.
  ///
  /// Where little tells which responses are selected, only those are decoded.
  ///
  /// - Parameters:
  ///   - projection: What to decode of each response that is selected.
  ///   - measuringKept: Whether to add up bodies, also of what is not selected.
  ///   - absent: Those names of the selection that no response has.
  static func all(
    of source: any ResponseSource, by basis: Basis, decoding projection: Projection,
    measuringKept: Bool, absent: inout EntryNames
  ) throws -> Self {
    var all = Self(basis)
    var request = ScanRequest(projection, in: .ascending)
    if basis.selection.isEmpty {
      // An array that grows is copied, and there may be a million entries. What cannot be counted may still be read.
      if let count = try? source.count() { all.entries.reserveCapacity(Int(clamping: count)) }
    } else {
      // What is no regular file stays, too.
      request.choosing = basis.selection.projection.union(basis.pins.projection).union(.file)
      if measuringKept { request.choosing?.formUnion(.body) }
    }
    try source.scan(request, into: Self(basis)) { tally in
      try all.insertAll(of: &tally, absent: &absent)
    }
    return all
  }

  /// Takes over what a tally holds, which is empty then.
  private mutating func insertAll(
    of tally: inout Self, absent: inout EntryNames
  ) throws -> ScanStep {
    if let overrun = tally.overrun { throw overrun }
    tally.removeNames(from: &absent)
    insert(tally)
    tally = Self(basis)
    return .next
  }

  var isFull: Bool { entries.count + named.count >= 256 || overrun != nil }

  mutating func choose(_ response: borrowing StoredResponse) -> Bool {
    guard overrun == nil else { return false }
    count(response)
    do throws(URLExpression.Overrun) {
      return try select(response)
    } catch {
      overrun = error
      return false
    }
  }

  mutating func insert(_ response: borrowing StoredResponse) {
    do throws(URLExpression.Overrun) {
      entries.append(try basis.entry(of: response))
    } catch {
      overrun = error
    }
  }

  private mutating func count(_ response: borrowing StoredResponse) {
    responses += 1
    if response.isOrphan { orphans += 1 }
    if response.bodyLocation == .inline {
      inlineBytes += response.bodySize ?? 0
    }
  }

  /// Whether a response is selected; why it is not is added up.
  private mutating func select(
    _ response: borrowing StoredResponse
  ) throws(URLExpression.Overrun) -> Bool {
    let decision = try basis.selection.decision(for: response, now: basis.now)
    guard
      let reason = KeepReason(decision)
        ?? KeepReason(ofSelected: response, among: basis.selection.names)
        ?? (basis.pins.contains(response) ? .pinned : nil)
    else { return true }
    if decision != .notNamed, basis.selection.names != nil {
      named.append(RemovalPlan.Entry(of: response, at: nil))
    }
    switch reason {
    case .notSelected: notSelected.insert(response.bodySize)
    case .tooYoung: tooYoung.insert(response.bodySize)
    default: others[reason, default: KeptEntries()].insert(response.bodySize)
    }
    return false
  }

  /// Removes the names from a list that responses here have.
  private func removeNames(from absent: inout EntryNames) {
    if absent.isEmpty { return }
    for entry in [entries, named].joined() {
      absent.remove(entry.version.id, url: entry.url, key: entry.version.key)
    }
  }

  /// Adds what comes next in the store.
  private mutating func insert(_ next: Self) {
    responses += next.responses
    orphans += next.orphans
    inlineBytes += next.inlineBytes
    entries += next.entries
    notSelected.insert(next.notSelected)
    tooYoung.insert(next.tooYoung)
    for (reason, kept) in next.others { others[reason, default: KeptEntries()].insert(kept) }
  }

  /// What is not selected, by the reason why.
  var kept: [KeepReason: KeptEntries] {
    var kept = others
    if notSelected.entries > 0 { kept[.notSelected] = notSelected }
    if tooYoung.entries > 0 { kept[.tooYoung] = tooYoung }
    return kept
  }
}
