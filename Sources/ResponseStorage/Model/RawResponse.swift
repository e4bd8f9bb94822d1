public import Bytes

/// A response exactly as the columns of its store hold it, undecoded.
public struct RawResponse {
  /// A value with the class that SQLite keeps it in.
  public enum Value: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(ByteString)
    case blob([UInt8])
  }

  /// A column of one of the tables, with its value.
  public struct Column: Hashable, Sendable {
    /// The name of the column; of one that CFNetwork does not make, with that of its table.
    public var name: String
    /// The value.
    public var value: Value

    /// Creates a column.
    public init(_ name: String, _ value: Value) {
      self.name = name
      self.value = value
    }
  }

  /// A column that holds many bytes.
  public struct Part {
    /// The columns, in the order in which an archive holds them.
    public enum Name: String, Hashable, Sendable, CaseIterable {
      case responseObject = "response_object"
      case requestObject = "request_object"
      case protocolProperties = "proto_props"
      case userInfo = "user_info"
      /// `receiver_data`, or the file that it names.
      case body
    }

    /// Which column it is.
    public var name: Name
    /// Whether SQLite holds it as text, and not as a BLOB.
    public var isText = false
    /// The bytes; `nil` if the column is `NULL`, or the body file is missing. A property list is decoded only if its
    /// bytes are in memory.
    public var content: Body?

    /// Creates a part.
    public init(_ name: Name, isText: Bool = false, _ content: Body?) {
      self.name = name
      self.isText = isText
      self.content = content
    }
  }

  /// The length of the longest property list that is decoded; a longer one is read piece by piece.
  public static let largestList = ByteCount(4 << 20)

  /// The number of the response in all tables.
  public var id: Int64
  /// The columns with few bytes, in their order.
  public var columns: [Column] = []
  /// The columns with many bytes, but for those whose row is missing.
  public var parts: [Part] = []
  /// Whether the body is in a file of its own.
  public var hasBodyFile = false
  /// Why the store cannot give the response in columns, so that there is none but its number: a clause.
  public var finding: String?
  /// What is made up, as the store does not know it: clauses.
  public var inventions: [String] = []

  /// Creates a response of which nothing is there.
  public init(id: Int64) {
    self.id = id
  }

  /// The value of a column, or `nil` if there is no such column or no row.
  public func value(of column: String) -> Value? {
    // A loop over the array would hold on to each column that it passes.
    let columns = columns.span
    for index in columns.indices where columns[index].name == column { return columns[index].value }
    return nil
  }

  /// Whether it has a row in the table of the keys and times.
  var hasResponseRow: Bool { value(of: "request_key") != nil || value(of: "time_stamp") != nil }

  /// A part, or `nil` if its row is missing.
  public func part(_ name: Part.Name) -> Part? {
    let parts = parts.span
    for index in parts.indices where parts[index].name == name { return parts[index] }
    return nil
  }
}

/// How the database of a store is laid out.
public struct RawLayout: Hashable, Sendable {
  /// The format of the store, which a copy of it has too. What comes from no store is for an Apple store.
  public var format = StoreDescription.Format.apple
  /// `PRAGMA user_version`.
  public var userVersion: Int64
  /// The version in the table that old schemas have for it.
  public var versionInTable: Int64?
  /// `PRAGMA encoding`.
  public var encoding: String
  /// The tables with the names of their columns, both in their order.
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
