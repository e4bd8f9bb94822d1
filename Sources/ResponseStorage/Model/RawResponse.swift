public import Bytes

/// A response exactly as in the columns of its store, undecoded.
public struct RawResponse {
  /// A value with its storage class in SQLite.
  public enum Value: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(ByteString)
    case blob([UInt8])
  }

  /// A column of one of the tables, with its value.
  public struct Column: Hashable, Sendable {
    /// The name of the column, with the name of its table if CFNetwork does not define it.
    public var name: String
    /// The value.
    public var value: Value

    /// Creates a column.
    public init(_ name: String, _ value: Value) {
      self.name = name
      self.value = value
    }
  }

  /// A large column.
  public struct Part {
    /// The columns, in their order in an archive.
    public enum Name: String, Hashable, Sendable, CaseIterable {
      case responseObject = "response_object"
      case requestObject = "request_object"
      case protocolProperties = "proto_props"
      case userInfo = "user_info"
      /// `receiver_data`, or the body file that it names.
      case body
    }

    /// The column.
    public var name: Name
    /// Whether SQLite stores it as text instead of a BLOB.
    public var isText = false
    /// The bytes; `nil` if the column is `NULL`, or the body file is missing. A property list is decoded only if it is
    /// in memory.
    public var content: Body?

    /// Creates a part.
    public init(_ name: Name, isText: Bool = false, _ content: Body?) {
      self.name = name
      self.isText = isText
      self.content = content
    }
  }

  /// The longest property list that is decoded; longer ones are read in chunks.
  // Property lists of real caches have some kilobytes.
  public static let largestList = ByteCount(4 << 20)

  /// The id of the response in all tables.
  public var id: Int64
  /// The small columns, in order.
  public var columns: [Column] = []
  /// The large columns, except those without a row.
  public var parts: [Part] = []
  /// Whether the body is in a body file.
  public var hasBodyFile = false
  /// Why the store cannot return the columns of the response, which then has only its id: a clause.
  public var finding: String?
  /// What was synthesized because the store does not have it: clauses.
  public var synthesizedFields: [String] = []

  /// Creates a response without columns.
  public init(id: Int64) {
    self.id = id
  }

  /// Returns the value of a column, or `nil` if there is no such column or row.
  public func value(of column: String) -> Value? {
    // Iterating over the array would retain and release each column.
    let columns = columns.span
    for index in columns.indices where columns[index].name == column { return columns[index].value }
    return nil
  }

  /// The total length of its texts and parts, in bytes, even of parts that are not in memory.
  public var byteCount: ByteCount {
    var count: ByteCount = 0
    let columns = columns.span
    for index in columns.indices {
      switch columns[index].value {
      case .text(let text): count += ByteCount(text.bytes.count)
      case .blob(let blob): count += ByteCount(blob.count)
      case .null, .integer, .real: break
      }
    }
    let parts = parts.span
    for index in parts.indices { count += parts[index].content?.size ?? 0 }
    return count
  }

  /// Whether it has a row in the table of keys and times.
  var hasResponseRow: Bool { value(of: "request_key") != nil || value(of: "time_stamp") != nil }

  /// Returns a part, or `nil` if its row is missing.
  public func part(_ name: Part.Name) -> Part? {
    let parts = parts.span
    for index in parts.indices where parts[index].name == name { return parts[index] }
    return nil
  }
}

/// The layout of a store's database.
public struct RawLayout: Hashable, Sendable {
  /// The format of the store, which a copy of it also has. Responses without a store use the Apple format.
  public var format = StoreDescription.Format.apple
  /// `PRAGMA user_version`.
  public var userVersion: Int64
  /// The version in the version table of older schemas.
  public var versionInTable: Int64?
  /// `PRAGMA encoding`.
  public var encoding: String
  /// The tables and the names of their columns, both in order.
  public var tables: [Table]

  /// A table.
  public struct Table: Hashable, Sendable {
    /// The name.
    public var name: String
    /// The names of the columns.
    public var columns: [String]

    /// Creates a table.
    public init(_ name: String, columns: [String]) {
      self.name = name
      self.columns = columns
    }
  }

  /// Creates a layout.
  public init(userVersion: Int64, versionInTable: Int64?, encoding: String, tables: [Table]) {
    self.userVersion = userVersion
    self.versionInTable = versionInTable
    self.encoding = encoding
    self.tables = tables
  }
}
