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
