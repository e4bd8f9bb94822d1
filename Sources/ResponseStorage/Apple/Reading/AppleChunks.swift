import Files
import SQLite

/// Chunks of consecutive responses, which several threads take in the order of the ids.
final class AppleChunks: Sendable {
  struct Chunk {
    let number: Int
    let ids: ClosedRange<Int64>
    let isLast: Bool

    /// A chunk of all responses.
    static let all = Self(number: 0, ids: .min ... .max, isLast: true)
  }

  private struct State: Sendable {
    var count = 0
    /// The first id of the next chunk; `nil` if there is none.
    var first: Int64? = .min
  }

  private let monitor = Monitor(State())

  /// Takes the next chunk; `nil` if there is none.
  ///
  /// - Parameters:
  ///   - ends: Finds where the chunk ends.
  ///   - taken: Called before another thread can take a chunk.
  func next(
    _ ends: inout AppleChunkEnds, _ taken: () -> Void = {}
  ) throws -> Chunk? {
    try monitor.withLock { state in
      Result {
        guard let first = state.first else { return nil }
        let next = try ends.end(ofChunkAt: first)
        defer { (state.first, state.count) = (next, state.count + 1) }
        taken()
        return Chunk(
          number: state.count, ids: first...(next.map { $0 - 1 } ?? .max), isLast: next == nil)
      }
    }.get()
  }

  /// Ends the chunks with one that cannot be read.
  ///
  /// - Parameter taken: Called before another thread can take a chunk, with the number of this one, and whether the chunks
  ///   had not ended before.
  /// - Returns: The number.
  @discardableResult
  func endEarly(_ taken: (_ number: Int, _ endsChunks: Bool) -> Void) -> Int {
    monitor.withLock { state in
      taken(state.count, state.first != nil)
      defer { (state.first, state.count) = (nil, state.count + 1) }
      return state.count
    }
  }

  func close() { monitor.withLock { $0.first = nil } }
}

/// Finds where chunks of responses end, for one thread.
///
/// The ends depend on the ids alone, so that a damaged store is read in the same chunks each time.
struct AppleChunkEnds: ~Copyable {
  /// The smallest gap, in ids, after which the ids of a chunk do not count as dense.
  private static let smallestGap: Int64 = 8

  private let length: Int64
  /// Finds the first id from another one on.
  private var near: Statement
  /// Finds the first id after `length` responses.
  private var far: Statement

  /// Prepares to find the ends of chunks of up to `length` responses, of fewer if some ids are not in use.
  init(of connection: borrowing Connection, length: Int) throws(SQLiteError) {
    let near = try connection.prepare(
      "SELECT entry_ID FROM \(AppleLayout.responses) WHERE entry_ID >= ?1 ORDER BY entry_ID LIMIT 1"
    )
    let far = try connection.prepare(
      """
      SELECT entry_ID FROM \(AppleLayout.responses) WHERE entry_ID > ?1
      ORDER BY entry_ID LIMIT 1 OFFSET \(length - 1)
      """)
    self.length = Int64(length)
    self.near = near
    self.far = far
  }

  /// Returns the first id after a chunk; `nil` if it is the last one.
  ///
  /// Rows of the other tables that have no response between two chunks belong to the earlier one.
  mutating func end(ofChunkAt first: Int64) throws -> Int64? {
    // Counting responses reads the table twice. It is needed only where many ids are not in use.
    var found: Int64?
    if first <= .max - length - Self.smallestGap {
      let end = first + length
      guard let next = try Self.id(from: &near, end) else { return nil }
      if next < end + Self.smallestGap { found = next }
    }
    found = try found ?? Self.id(from: &far, first)
    // A damaged table could return the same rows for ever.
    if let found, found <= first { throw DisorderedRows() }
    return found
  }

  private static func id(from statement: inout Statement, _ id: Int64) throws(SQLiteError) -> Int64?
  {
    try statement.restart(for: id)
    defer { statement.reset() }
    return try statement.step() ? statement.integer(at: 0) : nil
  }
}

/// A scan of the digests of all entries of a large Apple store on several threads, each with its own connection.
///
/// The entries come in no order, so each thread reads one range of ids after the other.
struct AppleDigestScan {
  private let threads: [ReadAhead<[DigestedEntry]>]

  /// Starts the threads.
  ///
  /// - Parameters:
  ///   - database: The path of a database that no process changes.
  ///   - folder: The path of the folder of body files.
  ///   - ranges: The ranges of ids.
  init(
    of database: String, _ layout: AppleLayout, bodiesAt folder: String,
    readingBodies readsBodies: Bool, in ranges: [ClosedRange<Int64>], threadCount: Int
  ) {
    let parts = Channel<ClosedRange<Int64>>()
    for range in ranges { parts.send(range) }
    parts.close()
    threads = (0..<threadCount).map { _ in
      ReadAhead("AppleDigestScan", most: 2) { send in
        let connection = try Connection(path: database, access: .immutable)
        // In KiB: all tables are read in their order, so a page is soon no longer needed.
        try connection.execute("PRAGMA cache_size = -512")
        var reader = try AppleContentReader(
          connection, layout, bodiesAt: folder, readingBodies: readsBodies)
        while let part = parts.receive() {
          try reader.begin(in: part)
          while case let entries = try reader.nextEntries(), !entries.isEmpty { try send(entries) }
        }
      }
    }
  }

  /// Calls `body` with each entry.
  func forEachEntry(_ body: (DigestedEntry) throws -> Void) throws {
    var threads = threads
    while !threads.isEmpty {
      // In turns, so that none waits long.
      threads = try threads.filter { thread in
        guard let entries = try thread.next() else { return false }
        for entry in entries { try body(entry) }
        return true
      }
    }
  }
}

extension AppleContentReader {
  /// Returns the next entries of the range; none at its end.
  fileprivate mutating func nextEntries() throws -> [DigestedEntry] {
    var entries: [DigestedEntry] = []
    while entries.count < 512, let entry = try next() {
      WorkCounter.add()
      entries.append(entry)
    }
    return entries
  }
}

/// A scan of all responses of a large Apple store with their bodies, on several threads.
///
/// Each thread has its own connection, takes the next chunk of consecutive responses when it has finished one, and works
/// on them and their bodies as it reads them. So threads exchange only results. As in ``AppleParallelScan``, no process
/// may change the database.
final class AppleBodyScan<Work: EntryWork>: Sendable {
  private let chunks = AppleChunks()
  private let results = OrderedResults<Work.Part, Work.Summary>()
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
