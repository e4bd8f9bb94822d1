internal import CSQLite

/// A prepared statement, positioned before its first row until ``step()`` is called.
@safe
public struct Statement: ~Copyable {
  /// The types of SQLite's values.
  public enum ValueType: Hashable, Sendable {
    case null
    case integer
    case real
    case text
    case blob
  }

  let handle: OpaquePointer

  /// Takes over a statement that no one else will finalize.
  init(owning handle: OpaquePointer) {
    unsafe self.handle = handle
  }

  deinit {
    unsafe sqlite3_finalize(handle)
  }

  /// Moves to the next row.
  ///
  /// - Returns: `false` when there are no more rows.
  public mutating func step() throws(SQLiteError) -> Bool {
    switch unsafe sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw unsafe SQLiteError(of: sqlite3_db_handle(handle))
    }
  }

  /// Resets the statement to before the first row, and keeps its bindings.
  public mutating func reset() {
    // The returned code repeats the error of the last step, which `step()` has thrown already.
    unsafe sqlite3_reset(handle)
  }

  /// Binds an integer to a parameter. Parameters are numbered from 1.
  public mutating func bind(integer: Int64, at parameter: Int32) throws(SQLiteError) {
    try check(unsafe sqlite3_bind_int64(handle, parameter, integer))
  }

  /// Binds a real number to a parameter.
  public mutating func bind(real: Double, at parameter: Int32) throws(SQLiteError) {
    try check(unsafe sqlite3_bind_double(handle, parameter, real))
  }

  /// Binds UTF-8 text to a parameter.
  public mutating func bind(text: [UInt8], at parameter: Int32) throws(SQLiteError) {
    try check(
      unsafe text.withUnsafeBytes { bytes in
        unsafe csqlite_bind_text(handle, parameter, bytes.baseAddress, UInt64(bytes.count))
      })
  }

  /// Binds UTF-8 text to a parameter.
  public mutating func bind(text: Span<UInt8>, at parameter: Int32) throws(SQLiteError) {
    try check(
      unsafe text.withUnsafeBytes { bytes in
        unsafe csqlite_bind_text(handle, parameter, bytes.baseAddress, UInt64(bytes.count))
      })
  }

  /// Binds a BLOB to a parameter.
  public mutating func bind(blob: Span<UInt8>, at parameter: Int32) throws(SQLiteError) {
    // As below.
    guard !blob.isEmpty else {
      try check(unsafe sqlite3_bind_zeroblob(handle, parameter, 0))
      return
    }
    try check(
      unsafe blob.withUnsafeBytes { bytes in
        unsafe csqlite_bind_blob(handle, parameter, bytes.baseAddress, UInt64(bytes.count))
      })
  }

  /// Binds a BLOB to a parameter.
  public mutating func bind(blob: [UInt8], at parameter: Int32) throws(SQLiteError) {
    // A null pointer would bind NULL, and an empty array may have no address.
    guard !blob.isEmpty else {
      try check(unsafe sqlite3_bind_zeroblob(handle, parameter, 0))
      return
    }
    try check(
      unsafe blob.withUnsafeBytes { bytes in
        unsafe csqlite_bind_blob(handle, parameter, bytes.baseAddress, UInt64(bytes.count))
      })
  }

  /// Binds `NULL` to a parameter.
  public mutating func bindNull(at parameter: Int32) throws(SQLiteError) {
    try check(unsafe sqlite3_bind_null(handle, parameter))
  }

  /// Returns the type of the value in a column of the current row. Columns are numbered from 0.
  public borrowing func type(at column: Int32) -> ValueType {
    switch unsafe sqlite3_column_type(handle, column) {
    case SQLITE_INTEGER: .integer
    case SQLITE_FLOAT: .real
    case SQLITE_TEXT: .text
    case SQLITE_BLOB: .blob
    default: .null
    }
  }

  /// Returns the integer in a column of the current row, or 0 if it is not a number.
  public borrowing func integer(at column: Int32) -> Int64 {
    unsafe sqlite3_column_int64(handle, column)
  }

  /// Returns the real number in a column of the current row, or 0 if it is not a number.
  public borrowing func real(at column: Int32) -> Double {
    unsafe sqlite3_column_double(handle, column)
  }

  /// Returns the bytes of a text or BLOB in a column of the current row, which are empty for `NULL`.
  public borrowing func bytes(at column: Int32) -> [UInt8] {
    // As a BLOB even if it is text: text of a hostile database may contain NUL, at which a C string
    // ends.
    guard let start = unsafe sqlite3_column_blob(handle, column) else { return [] }
    let count = unsafe Int(sqlite3_column_bytes(handle, column))
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
  }

  /// Returns the text in a column of the current row in UTF-8, which the database may store in another encoding.
  public borrowing func text(at column: Int32) -> [UInt8] {
    // In this order: sqlite3_column_text may convert the value, which changes its length.
    guard let start = unsafe sqlite3_column_text(handle, column) else { return [] }
    let count = unsafe Int(sqlite3_column_bytes(handle, column))
    return unsafe Array(UnsafeBufferPointer(start: start, count: count))
  }

  /// Passes the bytes in a column of the current row to `body`, without copying them.
  public borrowing func withBytes<Result, Failure: Error>(
    at column: Int32, _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // In this order: sqlite3_column_blob may convert the value, which changes its length.
    let start = unsafe sqlite3_column_blob(handle, column)
    let count = unsafe Int(sqlite3_column_bytes(handle, column))
    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
    return try body(unsafe bytes.assumingMemoryBound(to: UInt8.self).span)
  }

  private borrowing func check(_ code: Int32) throws(SQLiteError) {
    guard code == SQLITE_OK else { throw unsafe SQLiteError(of: sqlite3_db_handle(handle)) }
  }
}

extension Statement {
  /// The number of columns of a row.
  public var columnCount: Int32 { unsafe sqlite3_column_count(handle) }

  /// The number of parameters.
  public var parameterCount: Int32 { unsafe sqlite3_bind_parameter_count(handle) }

  /// Returns the name of a column, which SQLite chooses if the statement does not. Columns are numbered from 0.
  public borrowing func name(ofColumn column: Int32) -> String {
    unsafe sqlite3_column_name(handle, column).map { unsafe String(cString: $0) } ?? ""
  }

  /// Returns the name of a parameter with its first character, for example `:host`; `nil` if it has none.
  ///
  /// Parameters are numbered from 1.
  public borrowing func name(ofParameter parameter: Int32) -> String? {
    unsafe sqlite3_bind_parameter_name(handle, parameter).map { unsafe String(cString: $0) }
  }
}
