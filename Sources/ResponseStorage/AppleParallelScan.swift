import Files
import SQLite

/// A walk over all responses of a large Apple store that several threads share.
///
/// The responses are dealt out in hands of consecutive ones: with two threads, the first gets the
/// hands 0, 2, 4 …, the second 1, 3, 5 …. Each thread has a connection of its own, so that nothing but
/// batches of responses goes between threads; the connections see one and the same state only if
/// nobody can change the database (see ``AppleSnapshot``).
final class AppleParallelScan: Sendable {
  /// Some responses of a hand, and whether they are its last, or the last of all.
  private struct Batch: Sendable {
    var responses: [StoredResponse] = []
    var count = 0
    var endsHand = false
    var endsScan = false
  }

  private typealias Filled = Channel<Result<Batch, any Error>>

  private let hands: [(filled: Filled, empty: Channel<Batch>)]

  /// Starts the threads.
  ///
  /// - Parameters:
  ///   - database: The path of a database that nobody changes.
  ///   - bodies: The path of the folder of body files.
  init(
    of database: String, _ layout: AppleLayout, _ projection: Projection, bodiesAt bodies: String,
    threadCount: Int
  ) {
    hands = (0..<threadCount).map { _ in (Filled(), Channel<Batch>()) }
    for (number, (filled, empty)) in hands.enumerated() {
      // One that is being filled, one that waits, one that is being looked at.
      for _ in 0..<3 { empty.send(Batch()) }
      BackgroundThread.start("AppleParallelScan") {
        defer { filled.close() }
        do {
          let connection = try Connection(path: database, access: .immutable)
          try connection.execute("PRAGMA cache_size = -512")
          var reader = try Reader(connection, layout, projection, bodiesAt: bodies)
          try reader.skip(number)
          while reader.hasHand, var batch = empty.receive() {
            try reader.fill(&batch, connection)
            if batch.endsHand { try reader.skip(threadCount - 1) }
            filled.send(.success(batch))
          }
        } catch {
          filled.send(.failure(error))
        }
      }
    }
  }

  /// Calls `body` with each response, in ascending order of their numbers.
  func forEachResponse(_ body: (borrowing StoredResponse) throws -> ScanStep) throws {
    var number = 0
    while let result = hands[number].filled.receive() {
      // Nobody else may hold it: it would be copied to be changed.
      var batch = try (consume result).get()
      let count = batch.count
      var responses = batch.responses.mutableSpan
      for index in 0..<count where try Self.pass(&responses[index], to: body) == .stop { return }
      if batch.endsScan { return }
      hands[number].empty.send(batch)
      if batch.endsHand { number = (number + 1) % hands.count }
    }
  }

  /// Passes a response on without a copy of it, which the compiler makes of an element that may not change: it
  /// would count a dozen references up and down, on the thread that everything waits for.
  @inline(never)
  private static func pass(
    _ response: inout StoredResponse, to body: (borrowing StoredResponse) throws -> ScanStep
  ) rethrows -> ScanStep { try body(response) }

  deinit {
    for (_, empty) in hands { empty.close() }
    // Each thread closes its files before it ends, which is to happen before the snapshot ends.
    for (filled, _) in hands { while filled.receive() != nil {} }
  }
}

extension AppleParallelScan {
  /// What one thread reads its hands with.
  private struct Reader: ~Copyable {
    private static let responsesInHand = 2048
    // Short at first, as whoever wants only some responses should not wait for many.
    private static let responsesInBatches = 16...512
    private static let bytesInBatch = 1024 << 10

    private var scan: AppleScan
    private var memory = StoredResponse.SpareMemory()
    private let bodies: AppleBodyFiles?
    private let bodyTable: String
    private var ends: Statement
    /// Where the hand begins that is read now or next; `nil` when there is no other.
    private var first: Int64? = .min
    /// Where the hand begins that comes after the one that is being read.
    private var next: Int64?
    private var isReading = false
    /// The most responses in the next batch.
    private var batchLength = Self.responsesInBatches.lowerBound

    init(
      _ connection: borrowing Connection, _ layout: AppleLayout, _ projection: Projection,
      bodiesAt path: String
    ) throws(SQLiteError) {
      let scan = try AppleScan(connection, layout, projection)
      let ends = try connection.prepare(
        """
        SELECT entry_ID FROM \(AppleLayout.responses) WHERE entry_ID > ?1
        ORDER BY entry_ID LIMIT 1 OFFSET \(Self.responsesInHand - 1)
        """)
      self.scan = scan
      self.ends = ends
      bodies = projection.contains(.body) ? AppleBodyFiles(at: path) : nil
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

    /// Puts the next responses of the hand into `batch`, in the place of what it holds.
    mutating func fill(_ batch: inout Batch, _ connection: borrowing Connection) throws {
      guard let first else { return }
      if !isReading {
        next = try end(ofHandAt: first)
        try scan.begin(in: first...(next.map { $0 - 1 } ?? .max))
        isReading = true
      }
      (batch.count, batch.endsHand, memory.byteCount) = (0, false, 0)
      defer { batchLength = min(batchLength * 2, Self.responsesInBatches.upperBound) }
      while batch.count < batchLength, memory.byteCount < Self.bytesInBatch {
        if batch.count == batch.responses.count { batch.responses.append(.init(id: .row(0))) }
        guard try scan.next(into: &batch.responses[batch.count], reusing: &memory) else {
          (isReading, batch.endsHand, batch.endsScan) = (false, true, next == nil)
          self.first = next
          return
        }
        try bodies?.examine(&batch.responses[batch.count], in: bodyTable, of: connection)
        batch.count += 1
      }
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
