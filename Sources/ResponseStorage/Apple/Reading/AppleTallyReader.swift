import SQLite

/// What one thread reads hands of consecutive responses with, for tallies to take them in.
struct AppleTallyReader<Tally: ResponseTally>: ~Copyable {
  /// A tally of a hand, and whether it is its last, or the last of all.
  struct Share: Sendable {
    var tally: Tally
    var endsHand = false
    var endsScan = false
  }

  private let byteLimit: Int
  private var scan: AppleScan
  /// What tallies choose by, if that is read by itself.
  private var choice: AppleScan?
  private var memory = StoredResponse.SpareMemory()
  private let bodies: AppleBodyFiles?
  private let bodyTable: String
  /// Where hands end; `nil` if one hand holds all responses.
  private var ends: Statement?
  /// Where the hand begins that is read now or next; `nil` when there is no other.
  private var first: Int64? = .min
  /// Where the hand begins that comes after the one that is being read.
  private var next: Int64?
  private var isReading = false
  private var response = StoredResponse(id: .row(0))

  /// Prepares the reading.
  ///
  /// - Parameters:
  ///   - request: What is decoded; tallies choose by what is read by itself, or else by all.
  ///   - path: The path of the folder of body files.
  ///   - isAlone: Whether no other thread reads hands, so that there is one hand.
  init(
    _ connection: borrowing Connection, _ layout: AppleLayout, _ request: ScanRequest,
    bodiesAt path: String, isAlone: Bool
  ) throws(SQLiteError) {
    let scan = try AppleScan(connection, layout, request.projection)
    let choice: AppleScan? =
      if let choosing = request.choosing {
        try AppleScan(connection, layout, choosing)
      } else { nil }
    let ends: Statement? =
      if isAlone { nil } else {
        try connection.prepare(
          """
          SELECT entry_ID FROM \(AppleLayout.responses) WHERE entry_ID > ?1
          ORDER BY entry_ID LIMIT 1 OFFSET \(responsesInHand - 1)
          """)
      }
    self.scan = scan
    self.choice = choice
    self.ends = ends
    byteLimit = request.byteLimit
    let all = request.projection.union(request.choosing ?? [])
    bodies = all.contains(.body) ? AppleBodyFiles(at: path) : nil
    bodyTable = layout.bodyTable
  }

  /// Whether there is a hand to read.
  var hasHand: Bool { first != nil }

  /// Leaves hands out.
  mutating func skip(_ count: Int) throws {
    for _ in 0..<count {
      guard let hand = first else { return }
      first = try end(ofHandAt: hand)
    }
  }

  /// Lets the tally of `share` take in the next responses of the hand.
  mutating func fill(_ share: inout Share, _ connection: borrowing Connection) throws {
    guard let first else { return }
    if !isReading {
      next = try end(ofHandAt: first)
      try begin(first...(next.map { $0 - 1 } ?? .max), &share.tally, connection)
      isReading = true
    }
    (share.endsHand, memory.byteCount) = (false, 0)
    while !share.tally.isFull, memory.byteCount < byteLimit {
      guard try scan.next(into: &response, reusing: &memory) else {
        (isReading, share.endsHand, share.endsScan) = (false, true, next == nil)
        self.first = next
        return
      }
      try bodies?.examine(&response, in: bodyTable, of: connection)
      if choice != nil || share.tally.choose(response) {
        share.tally.insert(exchanging: &response)
      }
    }
  }

  /// Begins to walk over a hand, or over what a tally chooses of it.
  private mutating func begin(
    _ hand: ClosedRange<Int64>, _ tally: inout Tally, _ connection: borrowing Connection
  ) throws {
    guard choice != nil else { return try scan.begin(in: hand) }
    try choice?.begin(in: hand)
    var chosen: [Int64] = []
    while try choice?.next(into: &response, reusing: &memory) == true {
      try bodies?.examine(&response, in: bodyTable, of: connection)
      if case .row(let number) = response.id, tally.choose(response) { chosen.append(number) }
    }
    scan.begin(at: chosen)
  }

  /// Where the hand after the one at `first` begins.
  private mutating func end(ofHandAt first: Int64) throws -> Int64? {
    ends?.reset()
    try ends?.bind(integer: first, at: 1)
    guard try ends?.step() == true, let next = ends?.integer(at: 0) else { return nil }
    guard next > first else { throw DisorderedRows() }
    return next
  }
}

/// Few enough that other threads do not wait for whoever takes a hand in, and many enough that the beginnings of
/// hands are found in no time.
private let responsesInHand = 2048
