import Bytes
import Files
import SQLite

/// A reader of responses and their bodies, for one thread.
final class AppleEntryReader {
  /// The number of responses in a chunk: few enough that all threads end at about the same time.
  private static let chunkLength = 128

  private let connection: Connection
  private let path: String
  private let files: AppleBodyFiles
  private let bodyTable: String
  private let examinesBodies: Bool
  private var scan: AppleScan
  /// Reads short bodies.
  private var rows: Statement
  private var ends: AppleChunkEnds
  private var memory = StoredResponse.SpareMemory()
  /// The body of the current response.
  private var place = Place()

  /// Where a body is.
  private struct Place {
    var row: Int64 = 0
    var fileName: ByteString?
    /// Its length, if it is in the database.
    var size: ByteCount?
  }

  /// Opens a database that no process changes.
  ///
  /// - Parameters:
  ///   - projection: What to decode.
  ///   - folder: The path of the folder of body files.
  init(
    _ database: String, _ layout: AppleLayout, _ projection: Projection, bodiesAt folder: String
  ) throws(SQLiteError) {
    let connection = try Connection(path: database, access: .immutable)
    // In KiB: all tables are read in their order, so a page is soon no longer needed.
    try connection.execute("PRAGMA cache_size = -512")
    scan = try AppleScan(connection, layout, projection.union(.body))
    rows = try connection.prepare(
      "SELECT receiver_data FROM \(layout.bodyTable) WHERE entry_ID = ?1")
    ends = try AppleChunkEnds(of: connection, length: Self.chunkLength)
    self.connection = connection
    path = database
    files = AppleBodyFiles(at: folder)
    bodyTable = layout.bodyTable
    // Looking at each file before opening it takes time, and its length is known when it is open.
    examinesBodies = projection.contains(.body)
  }

  /// Takes the next chunk; `nil` if there is none.
  func nextChunk(of chunks: AppleChunks) throws -> AppleChunks.Chunk? {
    try chunks.next(&ends)
  }

  /// Calls `body` with each response of a chunk, and its body, which can be read only during the call.
  func forEachResponse(
    in ids: ClosedRange<Int64>, _ body: (borrowing StoredResponse, ScannedBody) throws -> Void
  ) throws {
    // Nobody keeps it longer than the reader, and a strong reference would count for each response.
    let content = ScannedBody { [unowned self] in try read($0) }
    var response = StoredResponse(id: .row(0))
    try scan.begin(in: ids)
    while try scan.next(into: &response, reusing: &memory) {
      if examinesBodies || response.bodyLocation == .inline && response.bodySize == nil {
        try files.examine(&response, in: bodyTable, of: connection)
      }
      guard case .row(let row) = response.id else { continue }
      place = Place(
        row: row, fileName: response.bodyFileName,
        size: response.bodyLocation == .inline ? response.bodySize : nil)
      WorkCounter.add()
      try body(response, content)
    }
  }

  /// Passes the body of the current response to `read`, and returns whether there is one.
  private func read(_ read: (inout BodyReader) throws -> Void) throws -> Bool {
    guard var reader = try open() else { return false }
    try read(&reader)
    return true
  }

  private func open() throws(StoreError) -> BodyReader? {
    if let name = place.fileName { return try files.openIfThere(name) }
    guard let size = place.size else { return nil }
    do throws(SQLiteError) {
      if size <= AppleStore.longestValue {
        try rows.restart(for: place.row)
        defer { rows.reset() }
        guard try rows.step(), rows.type(at: 0) == .blob || rows.type(at: 0) == .text else {
          return nil
        }
        return BodyReader(rows.bytes(at: 0))
      }
      return BodyReader(
        try connection.blob(table: bodyTable, column: "receiver_data", row: place.row))
    } catch {
      let error = StoreError(error, path: path)
      // What a damaged database cannot return is missing.
      if error.code == .noSuchResponse || error.code == .damaged { return nil }
      throw error
    }
  }
}
