public import Bytes
import PropertyLists
public import SQLite

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

/// The state of a regular file when it was read.
///
/// It distinguishes the file from one that has replaced it since.
public struct FileVersion: Hashable, Sendable {
  /// The inode of the file. Foundation never writes into an existing file, so a replacement has another
  /// inode.
  public var number: UInt64

  /// When the bytes last changed, in nanoseconds since 1970; wraps in the year 2262.
  public var modified: Int64

  /// The length, which `URLCache` counts.
  public var size: ByteCount

  /// Creates a version.
  public init(number: UInt64, modified: Int64, size: ByteCount) {
    self.number = number
    self.modified = modified
    self.size = size
  }

  /// How long a file that no entry refers to is kept for the process that may be writing it, in seconds.
  /// CFNetwork needs less than one.
  // Ten minutes are far more than an app needs between writing a file and storing its row, and an
  // orphan that is kept for that long does no harm.
  public static let youth = 600.0

  /// Whether another process may still be writing the file.
  public func isYoung(at now: Timestamp) -> Bool { Self.isYoung(modified: modified, at: now) }

  /// Whether another process may still be writing a file that was modified at `modified`, in nanoseconds
  /// since 1970.
  static func isYoung(modified: Int64, at now: Timestamp) -> Bool {
    AgeLimit(youth, at: now).isNotReached(by: Timestamp(nanosecondsSince1970: modified))
  }

  /// Whether it may be the same file with another inode, as in a copy of the folder.
  public func isLike(_ other: FileVersion) -> Bool {
    // A plan can be applied to a copy of a folder, in which each file has another inode. A copy
    // that does not keep the times of its files is refused by this.
    modified == other.modified && size == other.size
  }
}

extension RawResponse {
  /// Returns the response with other header fields, as CFNetwork writes it after the origin has confirmed that
  /// the body is still valid. Apart from them, only the time of storing changes.
  ///
  /// - Parameter time: When the origin confirmed it.
  /// - Returns: `nil` if the response cannot be decoded.
  public func freshened(_ headers: HeaderFields, at time: Timestamp) -> RawResponse? {
    let old = StoredResponse(decoding: self, .all)
    guard let url = old.url, let status = old.status else { return nil }
    return withResponse(
      AppleMessage.Response(
        // The status stays that of the stored response: a 304 updates its header fields only (RFC
        // 9111 §4.3.4).
        url: url, stored: time, status: status, headers: headers, expectedLength: old.bodySize,
        mimeType: old.mimeType))
  }

  /// Returns the response replaced by another one to the same request, as CFNetwork writes it: id, key, request
  /// and the time of first storing are kept, and the user info of the app is removed.
  ///
  /// - Returns: `nil` if the response cannot be decoded.
  public func replaced(by response: NewResponse) -> RawResponse? {
    let old = StoredResponse(decoding: self, .all)
    guard old.url != nil else { return nil }
    let new = response.raw(id: id)
    var raw = withResponse(
      AppleMessage.Response(
        url: response.url, stored: response.stored, status: response.status,
        headers: response.headers, expectedLength: new.part(.body)?.content?.size,
        mimeType: response.mimeType))
    raw.set(.protocolProperties, to: nil)
    let properties = Self.properties(of: old, replacing: new)
    if !properties.isEmpty {
      let bytes = PropertyListWriter().bytes(of: PropertyListValue(properties))
      raw.set(.protocolProperties, to: Body(bytes))
    }
    // What an app attached belongs to the old body, for example a date of expiry.
    raw.set(.userInfo, to: nil)
    raw.setBody(to: response.body)
    return raw
  }

  /// Returns a partly stored response with its complete body, as a 200. Its request, its user info and the time
  /// of first storing are kept.
  ///
  /// - Parameter time: When the rest of the body was received.
  /// - Returns: `nil` if the response cannot be decoded.
  public func completed(
    by body: Body, _ headers: HeaderFields, at time: Timestamp
  ) -> RawResponse? {
    let old = StoredResponse(decoding: self, .all)
    guard let url = old.url else { return nil }
    var raw = withResponse(
      AppleMessage.Response(
        // The parts of a body together are a complete 200 (RFC 9110 §15.3.7.3).
        url: url, stored: time, status: 200, headers: headers,
        expectedLength: body.size, mimeType: old.mimeType))
    raw.setBody(to: body)
    return raw
  }

  private mutating func setBody(to body: Body?) {
    set(.body, to: body)
    hasBodyFile = NewResponse.hasBodyFile(body?.size)
    if let place = columns.firstIndex(where: { $0.name == "isDataOnFS" }) {
      columns[place].value = .integer(hasBodyFile ? 1 : 0)
    }
  }

  /// Returns the request's properties of the old response, with the `Vary` record of the new one.
  private static func properties(
    of old: StoredResponse, replacing new: RawResponse
  ) -> [StoredResponse.Property] {
    let vary = (old.responseHeaders?.fields ?? []).filter {
      $0.name.equalsIgnoringASCIICase("vary")
    }
    let record = ByteString(Array(vary.map(\.value.bytes).joined(separator: [0x2C, 0x20])))
    let added = StoredResponse(decoding: new, [.protocolProperties]).protocolProperties
    let kept = old.protocolProperties.filter { property in
      // The record is stored under the value of `Vary`, which can be another one now. With both
      // records, CFNetwork might match a request by the old one.
      property.key != record && !added.contains { $0.key == property.key }
    }
    return kept + added
  }

  private func withResponse(_ response: AppleMessage.Response) -> RawResponse {
    // Systems before macOS 10.13 do not write `__hhaa__`: add it only where the old response has it.
    let marker = Array("__hhaa__".utf8)
    // The marker is searched in the bytes, as the list need not be decoded for that.
    let hasArrays = part(.responseObject)?.content?.bytes?.contains(marker) ?? true
    let headers = AppleMessage.archivedHeaders(response.headers, withArrays: hasArrays)
    var raw = self
    raw.set(
      .responseObject,
      to: Body(PropertyListWriter().bytes(of: response.propertyList(archivedHeaders: headers))))
    return raw
  }

  private mutating func set(_ name: Part.Name, to content: Body?) {
    columns.removeAll { $0.name == name.rawValue }
    if let place = parts.firstIndex(where: { $0.name == name }) {
      parts[place] = Part(name, content)
    } else {
      parts.append(Part(name, content))
    }
  }
}

extension [UInt8] {
  /// Whether the array contains other bytes.
  fileprivate func contains(_ other: [UInt8]) -> Bool {
    guard let first = other.first, count >= other.count else { return false }
    return indices.dropLast(other.count - 1).contains { index in
      self[index] == first && self[index..<index + other.count].elementsEqual(other)
    }
  }
}
