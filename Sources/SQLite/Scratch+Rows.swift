public import Bytes
public import Files

/// A value that can be kept as bytes in a temporary database, which the same process reads again.
public protocol ScratchRow {
  /// Adds the value to others: at least one byte.
  func pack(into values: inout PackedValues)

  /// Reads a value that ``pack(into:)`` has written.
  init(from reader: inout PackedReader) throws(PackedReader.Failure)
}

extension Scratch {
  /// A list of values, most of them in a temporary database: its memory does not grow with their number.
  ///
  /// Copies share the values. It is created by a ``Writer``, and does not change.
  public struct List<Row: ScratchRow> {
    /// The number of values.
    public private(set) var count = 0
    /// The values of a list that is too short for a database.
    private var bytes: [UInt8] = []
    private var parts: Parts?

    /// Creates an empty list.
    public init() {}

    /// Whether there are no values.
    public var isEmpty: Bool { count == 0 }

    /// Returns a reader that starts with the first value.
    public func makeReader() -> Reader<Row> {
      guard let parts else {
        var bytes: [UInt8]? = bytes.isEmpty ? nil : bytes
        return Reader { exchange(&bytes, with: nil) }
      }
      var number: Int64 = 0
      return Reader { () throws(FileError) in
        number += 1
        return try parts.part(number)
      }
    }

    /// Calls `body` with each value.
    public func forEach(_ body: (Row) throws -> Void) throws {
      var reader = makeReader()
      while let row = try reader.next() { try body(row) }
    }

    /// Writes a list.
    public struct Writer {
      private let partLength: Int
      private var list = List()
      private var values = PackedValues()

      /// - Parameter partLength: The number of bytes that are kept in memory.
      public init(partLength: Int = 1 << 17) { self.partLength = partLength }

      /// The number of values.
      public var count: Int { list.count }

      /// Appends a value.
      public mutating func append(_ row: Row) throws(FileError) {
        row.pack(into: &values)
        list.count += 1
        if values.bytes.count >= partLength { try flush() }
      }

      private mutating func flush() throws(FileError) {
        if list.parts == nil { list.parts = try Parts() }
        try list.parts?.append(values.bytes)
        values.removeAll()
      }

      /// Returns the list, and starts a new one.
      public mutating func finish() throws(FileError) -> List {
        if list.parts == nil {
          list.bytes = values.bytes
        } else {
          if !values.bytes.isEmpty { try flush() }
          try list.parts?.complete()
        }
        defer { self = Writer(partLength: partLength) }
        return list
      }
    }
  }

  /// Reads values. Copies read on together.
  public struct Reader<Row: ScratchRow> {
    private let nextBytes: () throws(FileError) -> [UInt8]?
    private var values = PackedReader()

    /// - Parameter nextBytes: Returns the next values; `nil` at the end.
    fileprivate init(_ nextBytes: @escaping () throws(FileError) -> [UInt8]?) {
      self.nextBytes = nextBytes
    }

    /// Returns the next value; `nil` at the end.
    public mutating func next() throws(FileError) -> Row? {
      if values.count == 0 {
        guard let bytes = try nextBytes() else { return nil }
        values = PackedReader(bytes)
      }
      do throws(PackedReader.Failure) { return try Row(from: &values) } catch {
        throw FileError.incomplete(at: Scratch.folder).ofTemporaryFile
      }
    }
  }

  /// The parts of a list: many values in each, as a row of a table takes more time than a value.
  private final class Parts {
    private let database: Scratch
    private var insertion: Statement
    private var finding: Statement

    init() throws(FileError) {
      database = try Scratch(tables: ["CREATE TABLE parts(number INTEGER PRIMARY KEY, part BLOB)"])
      insertion = try database.prepare("INSERT INTO parts(part) VALUES(?1)")
      finding = try database.prepare("SELECT part FROM parts WHERE number = ?1")
    }

    func append(_ bytes: [UInt8]) throws(FileError) {
      try database.restart(&insertion)
      try database.bind(to: &insertion) { statement throws(SQLiteError) in
        try statement.bind(blob: bytes, at: 1)
      }
      _ = try database.step(&insertion)
    }

    func complete() throws(FileError) {
      insertion.reset()
      try database.complete()
    }

    /// Returns a part, from 1; `nil` after the last.
    func part(_ number: Int64) throws(FileError) -> [UInt8]? {
      try database.restart(&finding, number)
      return try database.step(&finding) ? finding.bytes(at: 0) : nil
    }
  }
}

extension Scratch {
  /// A part of what decides the place of a row in an order. `nil` comes first, and numbers come before bytes.
  public enum Key {
    case none
    case integer(Int64)
    case real(Double)
    case bytes([UInt8])
  }

  /// Sorts any number of rows. Memory does not grow with their number. Rows with equal keys keep their order.
  ///
  /// - Complexity: O(*n* log *n*), where *n* is the number of rows.
  public struct Sort<Row: ScratchRow> {
    private let areDescending: [Bool]
    private var rows: SortedRows?

    /// Creates a sort without rows.
    ///
    /// - Parameter areDescending: For each key, the most important one first, whether its largest value comes first.
    public init(descending areDescending: [Bool]) { self.areDescending = areDescending }

    /// Creates a sort in ascending order.
    public init(keys: Int = 1) { self.init(descending: Array(repeating: false, count: keys)) }

    /// Adds a row.
    ///
    /// - Parameter keys: As many as the sort has.
    public mutating func insert(_ row: Row, by keys: Key...) throws(FileError) {
      try insert(row, by: keys)
    }

    /// Adds a row.
    public mutating func insert(_ row: Row, by keys: [Key]) throws(FileError) {
      if rows == nil { rows = try SortedRows(areDescending) }
      try rows?.insert(row, keys)
    }

    /// Removes all rows, and returns them in order.
    public mutating func removeAll() throws(FileError) -> Reader<Row> {
      let sorted = exchange(&rows, with: nil)
      try sorted?.sort()
      return Reader { () throws(FileError) in try sorted?.next() }
    }
  }

  /// A table of rows with their keys.
  private final class SortedRows {
    private let database: Scratch
    private var insertion: Statement
    private var selection: Statement
    private var values = PackedValues()
    private var isAtEnd = false

    init(_ areDescending: [Bool]) throws(FileError) {
      let keys = areDescending.indices.map { "key\($0)" }
      let order = zip(keys, areDescending).map { $1 ? "\($0) DESC" : $0 } + ["rowid"]
      let columns = (keys + ["packed"]).joined(separator: ", ")
      database = try Scratch(tables: ["CREATE TABLE sorted(\(columns))"])
      let parameters = (0...keys.count).map { "?\($0 + 1)" }.joined(separator: ", ")
      insertion = try database.prepare("INSERT INTO sorted VALUES(\(parameters))")
      selection = try database.prepare(
        "SELECT packed FROM sorted ORDER BY \(order.joined(separator: ", "))")
    }

    func insert(_ row: some ScratchRow, _ keys: [Key]) throws(FileError) {
      values.removeAll()
      row.pack(into: &values)
      try database.restart(&insertion)
      try database.bind(to: &insertion) { statement throws(SQLiteError) in
        var parameter: Int32 = 1
        for key in keys {
          try statement.bind(key, at: parameter)
          parameter += 1
        }
        try statement.bind(blob: values.bytes, at: parameter)
      }
      _ = try database.step(&insertion)
    }

    /// Sorts the rows, and moves to the first one.
    func sort() throws(FileError) {
      insertion.reset()
      isAtEnd = try !database.step(&selection)
    }

    func next() throws(FileError) -> [UInt8]? {
      if isAtEnd { return nil }
      let bytes = selection.bytes(at: 0)
      isAtEnd = try !database.step(&selection)
      return bytes
    }
  }
}

extension Statement {
  /// Binds a value to a parameter.
  public mutating func bind(
    row: some ScratchRow, at parameter: Int32
  ) throws(SQLiteError) {
    var values = PackedValues()
    row.pack(into: &values)
    try bind(blob: values.bytes, at: parameter)
  }

  fileprivate mutating func bind(_ key: Scratch.Key, at parameter: Int32) throws(SQLiteError) {
    switch key {
    case .none: try bindNull(at: parameter)
    case .integer(let integer): try bind(integer: integer, at: parameter)
    case .real(let real): try bind(real: real, at: parameter)
    case .bytes(let bytes): try bind(blob: bytes, at: parameter)
    }
  }
}
