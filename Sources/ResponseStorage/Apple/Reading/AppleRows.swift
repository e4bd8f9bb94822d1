import SQLite

/// A cursor over rows of one table of an Apple store, in the order of `entry_ID`.
///
/// A hostile row can be larger than memory. SQLite refuses to read such a row; it is then read again
/// with `NULL` instead of its large values.
struct AppleRows: ~Copyable {
  /// The id of the current row; `Int64.max` at the end, too.
  private(set) var id = Int64.min
  /// Whether there is a current row.
  private var hasRow = false

  // `statement` has the current row; the other one is for rows with large values, or for the rest.
  private var statement: Statement
  private var other: Statement
  private var isBounded = false
  /// The smallest id that the next row can have, and the largest that is requested.
  private var (next, last) = (Int64.min, Int64.max)

  /// A column to read, as SQL.
  struct Column {
    let expression: String
    /// The same, but `NULL` for values that are, or may be, too large to read.
    let bounded: String
  }

  /// Prepares a cursor, which ``begin(in:)`` starts.
  ///
  /// - Parameter columns: The columns to read after the id; `nil` for a column that is not needed.
  init(
    _ columns: [Column?], of table: String, _ connection: borrowing Connection
  ) throws(SQLiteError) {
    // A scan without an index is in the order of ids. If only ids are read, an index is faster, but
    // needs ORDER BY.
    let (index, order) =
      // Without NOT INDEXED, the planner can pick the index on `request_key`, which covers that
      // column. The rows then came in the order of URLs, and a scan of 1,000,000 responses took 2.6
      // seconds instead of 0.7.
      columns.allSatisfy { $0 == nil } ? ("", " ORDER BY entry_ID") : (" NOT INDEXED", "")
    // Omit trailing columns that are not needed, as each costs time.
    let asked = columns.prefix(columns.lastIndex { $0 != nil }.map { $0 + 1 } ?? 0)
    func select(_ columns: [String]) -> String {
      "SELECT \((["entry_ID"] + columns).joined(separator: ", ")) FROM \(table)\(index) "
        + "WHERE entry_ID >= ?1" + order
    }
    let statement = try connection.prepare(select(asked.map { $0?.expression ?? "NULL" }))
    let other = try connection.prepare(select(asked.map { $0?.bounded ?? "NULL" }))
    self.statement = statement
    self.other = other
  }

  /// Whether the current row has this id.
  borrowing func isAt(_ id: Int64) -> Bool { self.id == id && hasRow }

  /// Moves to the first row with an id in `range`.
  mutating func begin(in range: ClosedRange<Int64>) throws {
    (next, last, hasRow) = (range.lowerBound, range.upperBound, false)
    try restart()
    try advance()
  }

  /// Moves to the next row.
  ///
  /// - Throws: ``SQLiteError``, or ``DisorderedRows`` if a damaged table returns rows twice.
  mutating func advance() throws {
    // No id can follow the largest one, and adding 1 to it would overflow.
    if hasRow, id == .max { return hasRow = false }
    // The bounded statement evaluates `typeof` and `length` for each value, so it is only used for
    // the row that needs it.
    if isBounded { try exchangeStatements() }
    do throws(SQLiteError) {
      try step()
    } catch {
      // The limit is SQLite's own (`sqlite3_limit`), which it checks before it allocates memory for
      // the value.
      guard error.kind == .tooLarge else { throw error }
      try exchangeStatements()
      try step()
    }
    // A damaged b-tree can contain a cycle, which would make the scan endless.
    guard id >= next else { throw DisorderedRows() }
    // An upper bound in the SQL would add up to a tenth to its cost.
    if id > last { (id, hasRow) = (.max, false) }
    if id < .max { next = id + 1 }
  }

  /// Returns the type of the value in a column; column 0 is the id.
  borrowing func type(at column: Int32) -> Statement.ValueType { statement.type(at: column) }

  /// Returns the integer in a column, or 0 if it is not a number.
  borrowing func integer(at column: Int32) -> Int64 { statement.integer(at: column) }

  /// Returns the number in a column, or 0 if it is not a number.
  borrowing func real(at column: Int32) -> Double { statement.real(at: column) }

  /// Returns the bytes of a text or BLOB in a column, which are empty for `NULL`.
  borrowing func bytes(at column: Int32) -> [UInt8] { statement.bytes(at: column) }

  /// Passes the bytes of a text or BLOB in a column to `body`, without copying them.
  borrowing func withBytes<Result, Failure: Error>(
    at column: Int32, _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try statement.withBytes(at: column, body)
  }

  /// Whether large values of the current row were not read.
  var isCut: Bool { isBounded }

  /// Whether a column of property lists has a value that is too large to read.
  borrowing func isTooLarge(at column: Int32) -> Bool {
    isBounded && statement.type(at: column) == .text
  }

  private mutating func step() throws(SQLiteError) {
    hasRow = try statement.step()
    id = hasRow ? statement.integer(at: 0) : .max
  }

  private mutating func exchangeStatements() throws(SQLiteError) {
    swap(&statement, &other)
    isBounded.toggle()
    try restart()
  }

  private mutating func restart() throws(SQLiteError) {
    statement.reset()
    try statement.bind(integer: next, at: 1)
  }
}

extension AppleRows.Column {
  /// A column of the table.
  init(_ name: String) {
    expression = name
    // The length of a text in bytes is unknown until it is read, so read none.
    bounded = """
      CASE typeof(\(name)) WHEN 'text' THEN NULL WHEN 'blob' THEN \
      CASE WHEN length(\(name)) <= \(Connection.largestValue) THEN \(name) END ELSE \(name) END
      """
  }

  /// A column of property lists, which are BLOBs. An empty text stands for one that is too large.
  static func propertyList(_ name: String) -> Self {
    Self(
      expression: name,
      bounded: """
        CASE typeof(\(name)) WHEN 'blob' THEN \
        CASE WHEN length(\(name)) <= \(Connection.largestValue) THEN \(name) ELSE '' END \
        WHEN 'text' THEN NULL ELSE \(name) END
        """)
  }

  /// The length of a text or BLOB in bytes.
  ///
  /// The length of a BLOB is in the header of its row. A text has to be read, and one that is too large counts as the largest that can be.
  static func length(_ name: String) -> Self {
    func expression(ofText: String) -> String {
      "CASE typeof(\(name)) WHEN 'blob' THEN length(\(name)) WHEN 'text' THEN \(ofText) END"
    }
    return Self(
      expression: expression(ofText: "length(CAST(\(name) AS BLOB))"),
      bounded: expression(ofText: "\(Connection.largestValue)"))
  }

  /// What a row shows about a body without reading it: the name of its file as a text or BLOB, the length of
  /// a BLOB as an integer, or a real number for a text, whose length in bytes SQL cannot return.
  ///
  /// The SQL is written so that SQLite reads only the header of a row.
  static func body(hasBodyFiles: Bool) -> Self {
    let inline =
      "CASE typeof(receiver_data) WHEN 'blob' THEN length(receiver_data) WHEN 'text' THEN 0.0 END"
    guard hasBodyFiles else { return Self(expression: inline, bounded: inline) }
    return Self(
      expression: "CASE WHEN isDataOnFS > 0 THEN receiver_data ELSE \(inline) END",
      bounded: "CASE WHEN isDataOnFS > 0 THEN '' ELSE \(inline) END")
  }
}

/// The error that a damaged table returned a row twice, or rows out of order.
struct DisorderedRows: Error {}
