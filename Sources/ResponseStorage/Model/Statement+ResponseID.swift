import Bytes
public import SQLite

// The id of a response in a column of a temporary database: SQLite sorts numbers before BLOBs, and BLOBs by their bytes.
extension Statement {
  /// Returns the id in a column of the current row.
  public borrowing func responseID(at column: Int32) -> StoredResponse.ID {
    type(at: column) == .integer
      ? .row(integer(at: column)) : .file(ByteString(bytes(at: column)))
  }

  /// Sets a parameter to an id.
  public mutating func bind(
    _ id: StoredResponse.ID, at parameter: Int32
  ) throws(SQLiteError) {
    switch id {
    case .row(let row): try bind(integer: row, at: parameter)
    case .file(let name): try bind(blob: name.bytes, at: parameter)
    }
  }
}
