import ResponseStorage

/// Responses of which the selected ones were picked out, and the others counted.
///
/// Threads that read a store do that, each for some of the responses.
struct SelectionTally: ResponsePortion {
  /// What entries are made by, of what is selected.
  struct Basis: Sendable {
    let selection: Selection
    let policy: Policy
    let now: Timestamp
    let asksForFreshness: Bool

    func entry(
      of response: borrowing StoredResponse
    ) throws(URLExpression.Overrun) -> RemovalPlan.Entry {
      var entry = RemovalPlan.Entry(
        of: response, at: selection.ageBasis.time(of: response, now: now))
      if asksForFreshness {
        entry.state = ResponseFreshness(of: response, at: now, rules: selection.expiryRules)?.state
      }
      entry.verdict = try policy.verdict(on: response, now: now)
      return entry
    }
  }

  /// The number of all responses.
  private(set) var responses: Int64 = 0
  /// The number of those that `URLCache` does not see.
  private(set) var orphans: Int64 = 0
  /// The sizes of all bodies inside the database, in bytes.
  private(set) var inlineBytes: Int64 = 0
  /// What is selected, unless only its numbers are asked for.
  private(set) var entries: [RemovalPlan.Entry] = []
  /// The numbers of what is selected, if they are asked for.
  private(set) var numbers: [Int64] = []
  /// The expression that took too long; what came after it was not looked at.
  private var overrun: URLExpression.Overrun?
  /// What is named, and not selected all the same.
  private var named: [RemovalPlan.Entry] = []

  // What is not selected: each response is counted, and a dictionary would hash the reason of each.
  private var notSelected = KeptEntries()
  private var tooYoung = KeptEntries()
  private var others: [KeepReason: KeptEntries] = [:]

  private let basis: Basis
  private let asksForNumbers: Bool

  private init(_ basis: Basis, asksForNumbers: Bool) {
    self.basis = basis
    self.asksForNumbers = asksForNumbers
  }

  /// Picks out what is selected of a source, in ascending order of the ids.
  ///
  /// Where little tells which responses are selected, only those are decoded.
  ///
  /// - Parameters:
  ///   - projection: What to decode of each response that is selected.
  ///   - absent: Those names of the selection that no response has.
  static func all(
    of source: any ResponseSource, by basis: Basis, decoding projection: Projection,
    absent: inout EntryNames
  ) throws -> Self {
    if let source = source as? any NumberedResponseSource, !basis.selection.isEmpty,
      basis.selection.projection.isSubset(of: source.cheapProjection)
    {
      var all = Self(basis, asksForNumbers: true)
      try all.takeAll(of: source, basis.selection.projection.union(.body), absent: &absent)
      // More are found as fast by a walk over all, which several threads share.
      if Int64(all.numbers.count) <= all.responses / 2 {
        try source.forEachResponse(projection, numbered: all.numbers) { response in
          all.entries.append(try basis.entry(of: response))
          return .next
        }
        return all
      }
    }
    var all = Self(basis, asksForNumbers: false)
    try all.takeAll(of: source, projection, absent: &absent)
    return all
  }

  private mutating func takeAll(
    of source: any ResponseSource, _ projection: Projection, absent: inout EntryNames
  ) throws {
    let empty = self
    try source.forEachPortion(projection, startingWith: empty, in: .ascending) { portion in
      if let overrun = portion.overrun { throw overrun }
      portion.removeNames(from: &absent)
      insert(portion)
      portion = empty
      return .next
    }
  }

  var isFull: Bool { entries.count + named.count >= 256 || overrun != nil }

  mutating func take(_ response: inout StoredResponse) {
    guard overrun == nil else { return }
    do throws(URLExpression.Overrun) { try count(response) } catch { overrun = error }
  }

  private mutating func count(
    _ response: borrowing StoredResponse
  ) throws(URLExpression.Overrun) {
    responses += 1
    if response.isOrphan { orphans += 1 }
    if response.bodyLocation == .inline {
      inlineBytes = inlineBytes.addingClamped(response.bodySize ?? 0)
    }
    let decision = try basis.selection.decision(for: response, now: basis.now)
    guard
      let reason = KeepReason(decision)
        ?? KeepReason(ofSelected: response, among: basis.selection.names)
    else { return try takeSelected(response) }
    if decision != .notNamed, basis.selection.names != nil {
      named.append(RemovalPlan.Entry(of: response, at: nil))
    }
    switch reason {
    case .notSelected: notSelected.insert(response.bodySize)
    case .tooYoung: tooYoung.insert(response.bodySize)
    default: others[reason, default: KeptEntries()].insert(response.bodySize)
    }
  }

  private mutating func takeSelected(
    _ response: borrowing StoredResponse
  ) throws(URLExpression.Overrun) {
    if asksForNumbers, case .row(let number) = response.id {
      numbers.append(number)
    } else {
      entries.append(try basis.entry(of: response))
    }
  }

  /// Removes the names from a list that responses here have.
  private func removeNames(from absent: inout EntryNames) {
    if absent.isEmpty { return }
    for number in numbers { absent.remove(.row(number), url: nil, key: nil) }
    for entry in [entries, named].joined() {
      absent.remove(entry.version.id, url: entry.url, key: entry.version.key)
    }
  }

  /// Adds what comes next in the store.
  private mutating func insert(_ next: Self) {
    responses += next.responses
    orphans += next.orphans
    inlineBytes = inlineBytes.addingClamped(next.inlineBytes)
    entries += next.entries
    numbers += next.numbers
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
