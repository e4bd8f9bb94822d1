extension Connection {
  /// Opens an empty database that only this connection can see, and that is gone when it closes.
  ///
  /// SQLite writes it to an unnamed file in the temporary folder once it is too large for the page cache, so memory
  /// stays bounded.
  public static func temporary() throws(SQLiteError) -> Connection {
    let connection = try Connection(path: "", access: .temporary)
    try connection.fillQuickly()
    // In KiB. It is also how much is sorted at a time, which is fastest if it fits into the cache of a processor.
    try connection.execute("PRAGMA cache_size = -2048")
    try connection.execute("PRAGMA temp_store = FILE")
    // Sorting uses a second processor; a query that does not sort starts no thread.
    try connection.execute("PRAGMA threads = 1")
    // The first use of a table-valued function declares its table, which a connection that only reads refuses. A
    // library without JSON has no such functions.
    for function in ["json_each", "json_tree"] {
      try? connection.execute("SELECT 1 FROM \(function)('[]')")
    }
    return connection
  }

  /// Writes without a journal and without waiting for the disk, for a new database that is thrown away after a failure.
  public borrowing func fillQuickly() throws(SQLiteError) {
    try execute("PRAGMA journal_mode = OFF")
    try execute("PRAGMA synchronous = OFF")
  }
}
