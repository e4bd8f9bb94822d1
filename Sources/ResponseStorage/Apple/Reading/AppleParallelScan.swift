import Files
import SQLite

/// A scan of all responses of a large Apple store on several threads.
///
/// Each thread has its own connection, and takes the next chunk of consecutive responses when it has finished one, so
/// threads exchange only tallies. The connections see the same state only if no process can change the database (see
/// ``AppleSnapshot``).
final class AppleParallelScan<Tally: ResponseTally>: Sendable {
  private typealias Share = AppleTallyReader<Tally>.Share

  /// What one thread and the consumer pass to each other.
  private struct Hand: Sendable {
    let number: Int
    let filled = Channel<Result<Share, any Error>>()
    let empty = Channel<Share>()
  }

  private let hands: [Hand]
  private let chunks = AppleChunks()
  /// The numbers of the threads that have taken chunks, in the order of the chunks.
  private let takers = Channel<Int>()
  private let order: ScanOrder

  /// Starts the threads.
  ///
  /// - Parameters:
  ///   - database: The path of a database that no process changes.
  ///   - request: What to decode, with each projection completed for notes.
  ///   - bodies: The path of the folder of body files.
  ///   - sharing: The names of body files that no entry has for itself.
  ///   - waitForProcessor: Called by the last of several threads; returns when there is a processor for it.
  ///   - tally: The initial value of every tally.
  init(
    of database: String, _ layout: AppleLayout, _ request: ScanRequest, bodiesAt bodies: String,
    _ sharing: AppleBodyFiles.Sharing = .init(), threadCount: Int,
    waitForProcessor: @escaping @Sendable () -> Void = {}, into tally: Tally
  ) {
    order = request.order
    hands = (0..<threadCount).map { Hand(number: $0) }
    let (chunks, takers) = (chunks, takers)
    for hand in hands {
      // Three shares: one is being filled, one is waiting, one is being processed. More are not faster.
      for _ in 0..<3 { hand.empty.send(Share(tally: tally)) }
      BackgroundThread.start("AppleParallelScan") {
        defer { hand.filled.close() }
        if hand.number > 0, hand.number == threadCount - 1 { waitForProcessor() }
        var isReading = false
        var share: Share?
        do {
          // SQLite lets one connection work on one thread at a time, so each thread needs its own.
          let connection = try Connection(path: database, access: .immutable)
          // In KiB: each thread reads the tables in their order, so a page is soon no longer needed.
          try connection.execute("PRAGMA cache_size = -512")
          var reader = try AppleTallyReader<Tally>(
            connection, layout, request, bodiesAt: bodies, sharing)
          var ends = try AppleChunkEnds(of: connection, length: responsesInChunk)
          while let chunk = try chunks.next(&ends, { takers.send(hand.number) }) {
            isReading = true
            reader.start(chunk)
            while reader.isReading {
              if share == nil { share = hand.empty.receive() }
              // Nobody takes what was read.
              guard share != nil else { return }
              try share?.fill(from: &reader, connection)
              if request.order == .any, share?.endsChunk == true { continue }
              if let full = share.take() { hand.filled.send(.success(full)) }
            }
            isReading = false
          }
          if let share { hand.filled.send(.success(share)) }
        } catch {
          // Without an order, the consumer may meet the error only after all that the other threads read.
          if request.order == .any { chunks.close() }
          // The responses before the damage are not lost. Their share does not end the chunk, so that the consumer meets
          // the error next, in its place after all responses before it.
          share?.endsChunk = false
          share?.endsScan = false
          if let share { hand.filled.send(.success(share)) }
          if !isReading { chunks.endEarly { _, _ in takers.send(hand.number) } }
          hand.filled.send(.failure(error))
        }
      }
    }
  }

  /// Calls `body` with each tally, which is reused afterwards.
  func forEachTally(_ body: (inout Tally) throws -> ScanStep) throws {
    // The threads run as long as this object is there.
    try withExtendedLifetime(self) {
      switch order {
      case .ascending: try forEachInOrder(body)
      case .any: try forEachByThread(body)
      }
    }
  }

  /// Calls `body` with the tallies of one thread after the other: without an order, a thread rarely hands over more than
  /// one, at its end.
  private func forEachByThread(_ body: (inout Tally) throws -> ScanStep) throws {
    for hand in hands {
      while let result = hand.filled.receive() {
        var share = try (consume result).get()
        if try body(&share.tally) == .stop { return }
        hand.empty.send(share)
      }
    }
  }

  private func forEachInOrder(_ body: (inout Tally) throws -> ScanStep) throws {
    while let taker = takers.receive() {
      var endsChunk = false
      while !endsChunk, let result = hands[taker].filled.receive() {
        // Consume the result: with a second reference, changing the tally would copy it.
        var share = try (consume result).get()
        if try body(&share.tally) == .stop || share.endsScan { return }
        endsChunk = share.endsChunk
        hands[taker].empty.send(share)
      }
    }
  }

  deinit {
    chunks.close()
    for hand in hands { hand.empty.close() }
    // Wait until each thread has closed its files, which must happen before the snapshot ends.
    for hand in hands { while hand.filled.receive() != nil {} }
  }
}

/// The largest number of responses in a chunk: few enough that the shares of a thread hold most of one while the consumer takes
/// another thread's, and enough that finding where chunks begin costs almost nothing.
private let responsesInChunk = 1024

/// A reader of chunks of consecutive responses, for one thread, which passes them to tallies.
struct AppleTallyReader<Tally: ResponseTally>: ~Copyable {
  /// A tally of part of a chunk, and whether it is the last one of the chunk or of the scan.
  struct Share: Sendable {
    var tally: Tally
    var endsChunk = false
    var endsScan = false

    /// Passes the next responses of the chunk to the tally.
    mutating func fill(
      from reader: inout AppleTallyReader, _ connection: borrowing Connection
    ) throws { try reader.fill(&self, connection) }
  }

  private let byteLimit: Int
  private var scan: AppleScan
  /// The scan from which tallies choose, if that is separate.
  private var choice: AppleScan?
  private var memory = StoredResponse.SpareMemory()
  private let bodies: AppleBodyFiles?
  private let bodyTable: String
  /// The current chunk; `nil` after its end.
  private var chunk: AppleChunks.Chunk?
  /// Whether some of the chunk was read.
  private var hasBegun = false
  private var response = StoredResponse(id: .row(0))

  /// Prepares a reader.
  ///
  /// - Parameters:
  ///   - request: What to decode. Tallies choose by a separate projection, if there is one.
  ///   - path: The path of the folder of body files.
  ///   - sharing: The names of body files that no entry has for itself.
  init(
    _ connection: borrowing Connection, _ layout: AppleLayout, _ request: ScanRequest,
    bodiesAt path: String, _ sharing: AppleBodyFiles.Sharing = .init()
  ) throws(SQLiteError) {
    let scan = try AppleScan(connection, layout, request.projection)
    let choice: AppleScan? =
      if let choosing = request.choosing {
        try AppleScan(connection, layout, choosing)
      } else { nil }
    self.scan = scan
    self.choice = choice
    byteLimit = request.byteLimit
    let all = request.projection.union(request.choosing ?? [])
    bodies = all.contains(.body) ? AppleBodyFiles(at: path, sharing: sharing) : nil
    bodyTable = layout.bodyTable
  }

  /// Whether a chunk is not read to its end.
  var isReading: Bool { chunk != nil }

  /// Starts with a chunk.
  mutating func start(_ chunk: AppleChunks.Chunk) { (self.chunk, hasBegun) = (chunk, false) }

  /// Passes the next responses of the chunk to the tally of `share`.
  mutating func fill(_ share: inout Share, _ connection: borrowing Connection) throws {
    if let chunk, !hasBegun {
      try begin(chunk.ids, &share.tally, connection)
      hasBegun = true
    }
    // The limit counts for each share, which is what waits in memory for the consumer.
    (share.endsChunk, memory.byteCount) = (false, 0)
    while !share.tally.isFull, memory.byteCount < byteLimit {
      guard try scan.next(into: &response, reusing: &memory) else {
        (share.endsChunk, share.endsScan) = (true, chunk?.isLast ?? true)
        (chunk, hasBegun) = (nil, false)
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
    _ ids: ClosedRange<Int64>, _ tally: inout Tally, _ connection: borrowing Connection
  ) throws {
    guard choice != nil else { return try scan.begin(in: ids) }
    try choice?.begin(in: ids)
    var chosen: [Int64] = []
    while try choice?.next(into: &response, reusing: &memory) == true {
      try bodies?.examine(&response, in: bodyTable, of: connection)
      WorkCounter.add()
      if case .row(let number) = response.id, tally.choose(response) { chosen.append(number) }
    }
    scan.begin(at: chosen)
  }
}
