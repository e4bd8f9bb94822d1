import Files
import SQLite

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
