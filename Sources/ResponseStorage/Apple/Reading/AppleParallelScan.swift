import Files
import SQLite

/// A walk over all responses of a large Apple store that several threads share.
///
/// The responses are dealt out in hands of consecutive ones: with two threads, the first gets the
/// hands 0, 2, 4 …, the second 1, 3, 5 …. Each thread has a connection of its own, so that nothing but
/// portions goes between threads; the connections see one and the same state only if nobody can change
/// the database (see ``AppleSnapshot``).
final class AppleParallelScan<Portion: ResponsePortion>: Sendable {
  /// A portion of a hand, and whether it is its last, or the last of all.
  private struct Share: Sendable {
    var portion: Portion
    var endsHand = false
    var endsScan = false
  }

  private typealias Filled = Channel<Result<Share, any Error>>

  private let hands: [(filled: Filled, empty: Channel<Share>)]
  private let order: PortionOrder

  /// Starts the threads.
  ///
  /// - Parameters:
  ///   - database: The path of a database that nobody changes.
  ///   - little: What to decode first, for portions to choose by; `nil` if they want all.
  ///   - bodies: The path of the folder of body files.
  ///   - portion: What every portion starts as.
  ///   - byteLimit: The length of all property lists after which a portion is handed over, full or not.
  init(
    of database: String, _ layout: AppleLayout, _ projection: Projection,
    choosingBy little: Projection? = nil, bodiesAt bodies: String, threadCount: Int,
    startingWith portion: Portion, in order: PortionOrder, byteLimit: Int
  ) {
    self.order = order
    hands = (0..<threadCount).map { _ in (Filled(), Channel<Share>()) }
    for (number, (filled, empty)) in hands.enumerated() {
      // One that is being filled, one that waits, one that is being looked at.
      for _ in 0..<3 { empty.send(Share(portion: portion)) }
      BackgroundThread.start("AppleParallelScan") {
        defer { filled.close() }
        do {
          let connection = try Connection(path: database, access: .immutable)
          try connection.execute("PRAGMA cache_size = -512")
          var reader = try Reader(
            connection, layout, projection, choosingBy: little, bodiesAt: bodies,
            byteLimit: byteLimit)
          try reader.skip(number)
          while reader.hasHand, var share = empty.receive() {
            repeat {
              try reader.fill(&share, connection)
              if share.endsHand { try reader.skip(threadCount - 1) }
            } while order == .any && share.endsHand && reader.hasHand
            filled.send(.success(share))
          }
        } catch {
          filled.send(.failure(error))
        }
      }
    }
  }

  /// Calls `body` with each portion, which is filled again then.
  func forEachPortion(_ body: (inout Portion) throws -> ScanStep) throws {
    switch order {
    case .ascending: try forEachInOrder(body)
    case .any:
      for (filled, empty) in hands {
        while let result = filled.receive() {
          var share = try (consume result).get()
          if try body(&share.portion) == .stop { return }
          empty.send(share)
        }
      }
    }
  }

  private func forEachInOrder(_ body: (inout Portion) throws -> ScanStep) throws {
    var number = 0
    while let result = hands[number].filled.receive() {
      // Nobody else may hold it: it would be copied to be changed.
      var share = try (consume result).get()
      if try body(&share.portion) == .stop || share.endsScan { return }
      let endsHand = share.endsHand
      hands[number].empty.send(share)
      if endsHand { number = (number + 1) % hands.count }
    }
  }

  deinit {
    for (_, empty) in hands { empty.close() }
    // Each thread closes its files before it ends, which is to happen before the snapshot ends.
    for (filled, _) in hands { while filled.receive() != nil {} }
  }
}

extension AppleParallelScan {
  /// What one thread reads its hands with.
  private struct Reader: ~Copyable {
    private let byteLimit: Int
    private var scan: AppleScan
    /// What portions choose by, if they do.
    private var choice: AppleScan?
    private var memory = StoredResponse.SpareMemory()
    private let bodies: AppleBodyFiles?
    private let bodyTable: String
    private var ends: Statement
    /// Where the hand begins that is read now or next; `nil` when there is no other.
    private var first: Int64? = .min
    /// Where the hand begins that comes after the one that is being read.
    private var next: Int64?
    private var isReading = false
    private var response = StoredResponse(id: .row(0))

    init(
      _ connection: borrowing Connection, _ layout: AppleLayout, _ projection: Projection,
      choosingBy little: Projection?, bodiesAt path: String, byteLimit: Int
    ) throws(SQLiteError) {
      let scan = try AppleScan(connection, layout, projection)
      let choice: AppleScan? =
        if let little { try AppleScan(connection, layout, little) } else { nil }
      let ends = try connection.prepare(
        """
        SELECT entry_ID FROM \(AppleLayout.responses) WHERE entry_ID > ?1
        ORDER BY entry_ID LIMIT 1 OFFSET \(responsesInHand - 1)
        """)
      self.scan = scan
      self.choice = choice
      self.ends = ends
      self.byteLimit = byteLimit
      let all = projection.union(little ?? [])
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

    /// Lets the portion of `share` take in the next responses of the hand.
    mutating func fill(_ share: inout Share, _ connection: borrowing Connection) throws {
      guard let first else { return }
      if !isReading {
        next = try end(ofHandAt: first)
        try begin(first...(next.map { $0 - 1 } ?? .max), &share.portion, connection)
        isReading = true
      }
      (share.endsHand, memory.byteCount) = (false, 0)
      while !share.portion.isFull, memory.byteCount < byteLimit {
        guard try scan.next(into: &response, reusing: &memory) else {
          (isReading, share.endsHand, share.endsScan) = (false, true, next == nil)
          self.first = next
          return
        }
        try bodies?.examine(&response, in: bodyTable, of: connection)
        share.portion.take(&response)
      }
    }

    /// Begins to walk over a hand, or over what a portion chooses of it.
    private mutating func begin(
      _ hand: ClosedRange<Int64>, _ portion: inout Portion, _ connection: borrowing Connection
    ) throws {
      guard choice != nil else { return try scan.begin(in: hand) }
      try choice?.begin(in: hand)
      var wanted: [Int64] = []
      while try choice?.next(into: &response, reusing: &memory) == true {
        try bodies?.examine(&response, in: bodyTable, of: connection)
        if case .row(let number) = response.id, portion.choose(response) { wanted.append(number) }
      }
      scan.begin(at: wanted)
    }

    /// Where the hand after the one at `first` begins.
    private mutating func end(ofHandAt first: Int64) throws -> Int64? {
      ends.reset()
      try ends.bind(integer: first, at: 1)
      guard try ends.step() else { return nil }
      let next = ends.integer(at: 0)
      guard next > first else { throw DisorderedRows() }
      return next
    }
  }
}

/// Few enough that other threads do not wait for whoever takes a hand in, and many enough that the beginnings of
/// hands are found in no time.
private let responsesInHand = 2048
