import ResponseStorage

/// What a walk over all responses of a source counts while it picks out the selected ones.
struct SelectionTally {
  /// The number of all responses.
  private(set) var responses: Int64 = 0
  /// The number of those that `URLCache` does not see.
  private(set) var orphans: Int64 = 0
  /// The sizes of all bodies inside the database, in bytes.
  private(set) var inlineBytes: Int64 = 0
  /// The names that no response has.
  private(set) var absent: EntryNames
  // What is not selected: each response is counted, and a dictionary would hash the reason of each.
  private var notSelected = KeptEntries()
  private var tooYoung = KeptEntries()
  private var others: [KeepReason: KeptEntries] = [:]

  private let selection: Selection
  private let now: Timestamp

  /// Walks over the responses of a source.
  ///
  /// Where little tells which responses are selected, only those are decoded.
  ///
  /// - Parameters:
  ///   - projection: What to decode of each response that is selected.
  ///   - now: The moment that ages are counted to.
  ///   - body: What to do with a response that is selected; they come in ascending order of the ids.
  init(
    of source: any ResponseSource, _ selection: Selection, _ projection: Projection,
    now: Timestamp, _ body: (borrowing StoredResponse) throws -> Void
  ) throws {
    absent = selection.names ?? EntryNames()
    self.selection = selection
    self.now = now
    if let source = source as? any NumberedResponseSource,
      !selection.isEmpty, selection.projection.isSubset(of: source.cheapProjection)
    {
      try pickOut(of: source, projection, body)
      return
    }
    try source.forEachResponse(projection) { response in
      if try select(response) { try body(response) }
      return .next
    }
  }

  /// Finds out which responses are selected, and then decodes these.
  private mutating func pickOut(
    of source: any NumberedResponseSource, _ projection: Projection,
    _ body: (borrowing StoredResponse) throws -> Void
  ) throws {
    var numbers: [Int64] = []
    try source.forEachResponse(selection.projection.union(.body)) { response in
      if try select(response), case .row(let number) = response.id { numbers.append(number) }
      return .next
    }
    if Int64(numbers.count) <= responses / 2 {
      try source.forEachResponse(projection, numbered: numbers) { response in
        try body(response)
        return .next
      }
      return
    }
    // So many are found as fast by a walk over all, which several threads share.
    var rest = numbers[...]
    try source.forEachResponse(projection) { response in
      guard let next = rest.first, response.id == .row(next) else { return .next }
      rest.removeFirst()
      try body(response)
      return .next
    }
  }

  /// Counts a response, and returns whether it is selected.
  private mutating func select(
    _ response: borrowing StoredResponse
  ) throws(URLExpression.Overrun) -> Bool {
    responses += 1
    if response.isOrphan { orphans += 1 }
    if response.bodyLocation == .inline {
      inlineBytes = inlineBytes.addingClamped(response.bodySize ?? 0)
    }
    let decision = try selection.decision(for: response, now: now)
    if decision != .notNamed { absent.remove(response) }
    guard
      let reason = KeepReason(decision)
        ?? KeepReason(ofSelected: response, among: selection.names)
    else { return true }
    switch reason {
    case .notSelected: notSelected.insert(response.bodySize)
    case .tooYoung: tooYoung.insert(response.bodySize)
    default: others[reason, default: KeptEntries()].insert(response.bodySize)
    }
    return false
  }

  /// What is not selected, by the reason why.
  var kept: [KeepReason: KeptEntries] {
    var kept = others
    if notSelected.entries > 0 { kept[.notSelected] = notSelected }
    if tooYoung.entries > 0 { kept[.tooYoung] = tooYoung }
    return kept
  }
}
