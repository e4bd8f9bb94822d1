internal import CSQLite

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
