import Files
import SQLite

/// A reader of chunks of consecutive responses, for one thread, which passes them to tallies.
struct AppleTallyReader<Tally: ResponseTally>: ~Copyable {
  /// A tally of part of a chunk, and whether it is the last one of the chunk or of the scan.
  struct Share: Sendable {
    var tally: Tally
    var endsHand = false
    var endsScan = false
  }

  private let byteLimit: Int
  private var scan: AppleScan
  /// The scan from which tallies choose, if that is separate.
  private var choice: AppleScan?
  private var memory = StoredResponse.SpareMemory()
  private let bodies: AppleBodyFiles?
  private let bodyTable: String
  /// Finds where chunks end; `nil` if one chunk contains all responses.
  private var ends: Statement?
  /// The first id of the current or next chunk; `nil` if there is none.
  private var first: Int64? = .min
  /// The first id of the chunk after the current one.
  private var next: Int64?
  private var isReading = false
  private var response = StoredResponse(id: .row(0))

  /// Prepares a reader.
  ///
  /// - Parameters:
  ///   - request: What to decode. Tallies choose by a separate projection, if there is one.
  ///   - path: The path of the folder of body files.
  ///   - isAlone: Whether no other thread reads chunks, so that there is only one.
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
        // The chunks follow the table of responses. Rows of the other tables that have no
        // response between two chunks belong to the earlier one, as its range reaches up to the
        // next id.
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

  /// Whether there is a chunk to read.
  var hasHand: Bool { first != nil }

  /// Skips chunks.
  mutating func skip(_ count: Int) throws {
    for _ in 0..<count {
      guard let hand = first else { return }
      first = try end(ofHandAt: hand)
    }
  }

  /// Passes the next responses of the chunk to the tally of `share`.
  mutating func fill(_ share: inout Share, _ connection: borrowing Connection) throws {
    guard let first else { return }
    if !isReading {
      next = try end(ofHandAt: first)
      try begin(first...(next.map { $0 - 1 } ?? .max), &share.tally, connection)
      isReading = true
    }
    // The limit counts for each share, which is what waits in memory for the consumer.
    (share.endsHand, memory.byteCount) = (false, 0)
    while !share.tally.isFull, memory.byteCount < byteLimit {
      guard try scan.next(into: &response, reusing: &memory) else {
        (isReading, share.endsHand, share.endsScan) = (false, true, next == nil)
        self.first = next
        return
      }
      try bodies?.examine(&response, in: bodyTable, of: connection)
      if choice == nil { WorkCounter.add() }
      if choice != nil || share.tally.choose(response) {
        share.tally.insert(exchanging: &response)
      }
    }
  }

  /// Starts to read a chunk, or the responses that a tally chooses from it.
  private mutating func begin(
    _ hand: ClosedRange<Int64>, _ tally: inout Tally, _ connection: borrowing Connection
  ) throws {
    guard choice != nil else { return try scan.begin(in: hand) }
    try choice?.begin(in: hand)
    var chosen: [Int64] = []
    while try choice?.next(into: &response, reusing: &memory) == true {
      try bodies?.examine(&response, in: bodyTable, of: connection)
      WorkCounter.add()
      if case .row(let number) = response.id, tally.choose(response) { chosen.append(number) }
    }
    scan.begin(at: chosen)
  }

  /// Returns the first id of the chunk after the one at `first`.
  private mutating func end(ofHandAt first: Int64) throws -> Int64? {
    ends?.reset()
    try ends?.bind(integer: first, at: 1)
    guard try ends?.step() == true, let next = ends?.integer(at: 0) else { return nil }
    // A damaged table could return the same rows for ever.
    guard next > first else { throw DisorderedRows() }
    return next
  }
}

/// The responses in a chunk: few enough that other threads do not wait for a consumer, and enough that
/// finding where chunks begin costs almost nothing.
private let responsesInHand = 2048
