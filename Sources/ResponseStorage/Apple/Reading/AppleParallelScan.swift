import Files
import SQLite

/// A scan of all responses of a large Apple store on several threads.
///
/// The responses are divided into chunks of consecutive ones: with two threads, the first reads the
/// chunks 0, 2, 4 …, the second 1, 3, 5 …. Each thread has its own connection, so threads exchange only
/// tallies. The connections see the same state only if no process can change the database (see
/// ``AppleSnapshot``).
final class AppleParallelScan<Tally: ResponseTally>: Sendable {
  private typealias Share = AppleTallyReader<Tally>.Share
  private typealias Filled = Channel<Result<Share, any Error>>

  private let hands: [(filled: Filled, empty: Channel<Share>)]
  private let order: ScanOrder

  /// Starts the threads.
  ///
  /// - Parameters:
  ///   - database: The path of a database that no process changes.
  ///   - request: What to decode, with each projection completed for notes.
  ///   - bodies: The path of the folder of body files.
  ///   - tally: The initial value of every tally.
  init(
    of database: String, _ layout: AppleLayout, _ request: ScanRequest, bodiesAt bodies: String,
    threadCount: Int, into tally: Tally
  ) {
    order = request.order
    let order = order
    hands = (0..<threadCount).map { _ in (Filled(), Channel<Share>()) }
    for (number, (filled, empty)) in hands.enumerated() {
      // Three shares: one is being filled, one is waiting, one is being processed. More are not faster.
      for _ in 0..<3 { empty.send(Share(tally: tally)) }
      BackgroundThread.start("AppleParallelScan") {
        defer { filled.close() }
        do {
          // SQLite lets one connection work on one thread at a time, so each thread needs its own.
          let connection = try Connection(path: database, access: .immutable)
          // In KiB: each thread reads the tables in their order, so a page is soon no longer needed.
          try connection.execute("PRAGMA cache_size = -512")
          var reader = try AppleTallyReader<Tally>(
            connection, layout, request, bodiesAt: bodies, isAlone: false)
          try reader.skip(number)
          while reader.hasHand, var share = empty.receive() {
            do {
              repeat {
                try reader.fill(&share, connection)
                if share.endsHand { try reader.skip(threadCount - 1) }
              } while order == .any && share.endsHand && reader.hasHand
            } catch {
              // The responses before the damage are not lost. The share is not the last one of its chunk, so
              // that the consumer meets the error next.
              share.endsHand = false
              share.endsScan = false
              filled.send(.success(share))
              throw error
            }
            filled.send(.success(share))
          }
        } catch {
          // The error takes the place of a share, so that the consumer meets it in order, after all
          // responses before it.
          filled.send(.failure(error))
        }
      }
    }
  }

  /// Calls `body` with each tally, which is reused afterwards.
  func forEachTally(_ body: (inout Tally) throws -> ScanStep) throws {
    switch order {
    case .ascending: try forEachInOrder(body)
    // The threads are drained one after the other: in this order, a thread rarely hands over more
    // than one tally, at its end.
    case .any:
      for (filled, empty) in hands {
        while let result = filled.receive() {
          var share = try (consume result).get()
          if try body(&share.tally) == .stop { return }
          empty.send(share)
        }
      }
    }
  }

  private func forEachInOrder(_ body: (inout Tally) throws -> ScanStep) throws {
    var number = 0
    while let result = hands[number].filled.receive() {
      // Consume the result: with a second reference, changing the tally would copy it.
      var share = try (consume result).get()
      if try body(&share.tally) == .stop || share.endsScan { return }
      let endsHand = share.endsHand
      hands[number].empty.send(share)
      if endsHand { number = (number + 1) % hands.count }
    }
  }

  deinit {
    for (_, empty) in hands { empty.close() }
    // Wait until each thread has closed its files, which must happen before the snapshot ends.
    for (filled, _) in hands { while filled.receive() != nil {} }
  }
}
