import Bytes
import Files
import SQLite

// Reading bodies, from the database or from their files.
extension AppleStore {
  /// The length up to which a body is read as a value of its row, in bytes. A BLOB handle bounds the memory, but opening
  /// one takes longer than reading this much.
  static let longestValue: ByteCount = 65_536

  public func work<Work: EntryWork>(
    _ projection: Projection, with work: Work,
    _ receive: (EntryWorkResult<Work>) throws -> Void
  ) throws -> Bool {
    guard processorCount > 1, let database = snapshot.databaseForWork else { return false }
    try translatingErrors {
      try AppleBodyScan(
        of: database, layout, completed(projection), bodiesAt: files.bodies,
        threadCount: min(processorCount, 4), with: work
      ).forEachResult(receive)
    }
    return true
  }

  public func withBody(
    of id: StoredResponse.ID, _ read: (inout BodyReader) throws -> Void
  ) throws {
    guard let response = try response(id, .body) else {
      throw StoreError(.noSuchResponse, at: files.path)
    }
    try withBody(of: response, read)
  }

  public func withBody(
    of response: borrowing StoredResponse, _ read: (inout BodyReader) throws -> Void
  ) throws {
    guard response.decoded.contains(.body) else { return try withBody(of: response.id, read) }
    guard case .row(let row) = response.id else {
      throw StoreError(.noSuchResponse, at: files.path)
    }
    if response.bodyFileName != nil {
      var reader = try bodies.open(response.bodyFileName)
      try read(&reader)
      return
    }
    guard response.bodyLocation == .inline else {
      throw StoreError(.noSuchResponse, at: files.path, because: "the entry has no body")
    }
    var reader = try openRow(row, size: response.bodySize)
    try read(&reader)
  }

  /// Opens a body in the database.
  ///
  /// - Parameter size: Its length, if it is known.
  private func openRow(_ row: Int64, size: ByteCount?) throws -> BodyReader {
    do throws(SQLiteError) {
      if let size, size <= Self.longestValue, let bytes = try value(inRow: row) {
        return BodyReader(bytes)
      }
      return BodyReader(
        try snapshot.connection.blob(table: layout.bodyTable, column: "receiver_data", row: row))
    } catch {
      throw try translated(error)
    }
  }

  /// Returns the body in a row; `nil` if there is no such row, or no body in it.
  private func value(inRow row: Int64) throws(SQLiteError) -> [UInt8]? {
    // Opening a BLOB compiles a statement each time; this one is compiled once.
    if bodyRows == nil {
      bodyRows = try snapshot.connection.prepare(
        "SELECT receiver_data FROM \(layout.bodyTable) WHERE entry_ID = ?1")
    }
    defer { bodyRows?.reset() }
    try bodyRows?.bind(integer: row, at: 1)
    guard try bodyRows?.step() == true else { return nil }
    switch bodyRows?.type(at: 0) {
    case .blob, .text: return bodyRows?.bytes(at: 0)
    default: return nil
    }
  }
}
