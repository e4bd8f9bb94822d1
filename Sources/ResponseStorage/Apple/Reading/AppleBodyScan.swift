import Files
import SQLite

/// A scan of all responses of a large Apple store with their bodies, on several threads.
///
/// Each thread has its own connection, takes the next chunk of consecutive responses when it has finished one, and works
/// on them and their bodies as it reads them. So threads exchange only results. As in ``AppleParallelScan``, no process
/// may change the database.
final class AppleBodyScan<Work: EntryWork>: Sendable {
  private let chunks = AppleChunks()
  private let results = OrderedResults<Work>()
  private let ends: [Channel<Bool>]

  /// Starts the threads.
  ///
  /// - Parameters:
  ///   - database: The path of a database that no process changes.
  ///   - projection: What to decode, completed for notes.
  ///   - bodies: The path of the folder of body files.
  init(
    of database: String, _ layout: AppleLayout, _ projection: Projection, bodiesAt bodies: String,
    threadCount: Int, with work: Work
  ) {
    ends = (0..<threadCount).map { _ in Channel<Bool>() }
    for end in ends {
      let (chunks, results) = (chunks, results)
      BackgroundThread.start("AppleBodyScan") {
        defer { end.close() }
        var work = work
        var number: Int?
        do {
          let reader = try AppleEntryReader(database, layout, projection, bodiesAt: bodies)
          while let chunk = try reader.nextChunk(of: chunks) {
            number = chunk.number
            if chunk.isLast { results.setCount(chunk.number + 1) }
            try reader.forEachResponse(in: chunk.ids) { response, body in
              try work.process(response, body) {
                try results.send($0, bytes: $1, of: chunk.number)
              }
            }
            let summary = try work.endBatch { try results.send($0, bytes: $1, of: chunk.number) }
            results.end(chunk.number, with: .success(summary))
            number = nil
          }
        } catch {
          // It takes the place of the rest of the chunk, so that all results before it are passed on.
          let failed = number ?? chunks.endEarly { if $1 { results.setCount($0 + 1) } }
          results.end(failed, with: .failure(error))
        }
      }
    }
  }

  /// Calls `body` with the results, in the order of the responses.
  func forEachResult(_ body: (EntryWorkResult<Work>) throws -> Void) throws {
    // The threads run as long as this object is there.
    try withExtendedLifetime(self) { try results.forEach(body) }
  }

  deinit {
    chunks.close()
    results.close()
    // Wait until each thread has closed its files, which must happen before the snapshot ends.
    for end in ends { while end.receive() != nil {} }
  }
}
