import SQLite

/// A walk over rows of one table of an Apple store, in the order of their `entry_ID`.
///
/// A hostile row can hold more than memory does. SQLite refuses such a row when it is read; it is then
/// read a second time without what is too large, as if that were `NULL`.
struct AppleRows: ~Copyable {
  /// The number of the row that the walk is at; the largest that there can be at the end, too.
  private(set) var id = Int64.min
  /// Whether the walk is at a row.
  private var hasRow = false

  // The one that has the row, and the other.
  private var statement: Statement
  private var other: Statement
  private var isBounded = false
  /// The least number that the next row can have, and the largest that is wanted.
  private var (next, last) = (Int64.min, Int64.max)

  /// What to read of a row, as SQL.
  struct Column {
    let expression: String
    /// The same, but `NULL` instead of what is too large to be read, or may be.
    let bounded: String
  }

  /// Prepares a walk, which ``begin(in:)`` begins.
  ///
  /// - Parameter columns: What to read of a row from the second column on; `nil` for nothing.
  init(
    _ columns: [Column?], of table: String, _ connection: borrowing Connection
  ) throws(SQLiteError) {
    // A walk for the numbers alone may use any index, in their order.
    let (index, order) =
      columns.allSatisfy { $0 == nil } ? ("", " ORDER BY entry_ID") : (" NOT INDEXED", "")
    // Columns at the end that nobody asked for are left out, as each costs time.
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

  /// Whether the walk is at the row of a number.
  borrowing func isAt(_ id: Int64) -> Bool { self.id == id && hasRow }

  /// Moves to the first row whose number is in `range`.
  mutating func begin(in range: ClosedRange<Int64>) throws {
    (next, last, hasRow) = (range.lowerBound, range.upperBound, false)
    try restart()
    try advance()
  }

  /// Moves to the next row.
  ///
  /// - Throws: ``SQLiteError``, or ``DisorderedRows`` if a damaged table gives rows twice.
  mutating func advance() throws {
    // What would come next after the largest number has none.
    if hasRow, id == .max { return hasRow = false }
    if isBounded { try exchangeStatements() }
    do throws(SQLiteError) {
      try step()
    } catch {
      guard error.kind == .tooLarge else { throw error }
      try exchangeStatements()
      try step()
    }
    guard id >= next else { throw DisorderedRows() }
    // An upper bound in the statement would cost as much as a tenth of it.
    if id > last { (id, hasRow) = (.max, false) }
    if id < .max { next = id + 1 }
  }

  /// The type of the value in a column; the number of the row is column 0.
  borrowing func type(at column: Int32) -> Statement.ValueType { statement.type(at: column) }

  /// The integer in a column; 0 for what is no number.
  borrowing func integer(at column: Int32) -> Int64 { statement.integer(at: column) }

  /// The bytes of a text or BLOB in a column; none for `NULL`.
  borrowing func bytes(at column: Int32) -> [UInt8] { statement.bytes(at: column) }

  /// Passes the bytes of a text or BLOB in a column to `body`, without copying them.
  borrowing func withBytes<Result, Failure: Error>(
    at column: Int32, _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try statement.withBytes(at: column, body)
  }

  /// Whether the value in a column of property lists is there, and too large to be read.
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
    // How long a text is cannot be told without reading it.
    bounded = """
      CASE typeof(\(name)) WHEN 'text' THEN NULL WHEN 'blob' THEN \
      CASE WHEN length(\(name)) <= \(Connection.largestValue) THEN \(name) END ELSE \(name) END
      """
  }

  /// A column of property lists, which are BLOBs: a text stands for what is too large to be read.
  static func propertyList(_ name: String) -> Self {
    Self(
      expression: name,
      bounded: """
        CASE typeof(\(name)) WHEN 'blob' THEN \
        CASE WHEN length(\(name)) <= \(Connection.largestValue) THEN \(name) ELSE '' END \
        WHEN 'text' THEN NULL ELSE \(name) END
        """)
  }

  /// What tells of a body without reading it: the name of its file as a text or BLOB, the length of
  /// a BLOB as an integer, or a real number for a text, whose length in bytes SQL does not tell.
  ///
  /// It is written so that SQLite looks at no more than the head of a row.
  static func body(hasBodyFiles: Bool) -> Self {
    let inline =
      "CASE typeof(receiver_data) WHEN 'blob' THEN length(receiver_data) WHEN 'text' THEN 0.0 END"
    guard hasBodyFiles else { return Self(expression: inline, bounded: inline) }
    return Self(
      expression: "CASE WHEN isDataOnFS > 0 THEN receiver_data ELSE \(inline) END",
      bounded: "CASE WHEN isDataOnFS > 0 THEN '' ELSE \(inline) END")
  }
}

/// A damaged table gave the same row twice, or rows out of order.
struct DisorderedRows: Error {}
