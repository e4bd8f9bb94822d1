import SQLite

/// The names of the body files that responses refer to.
struct AppleBodyFileNames: Sendable {
  /// All names.
  // 16 bytes for each name instead of a text: a cache can have millions of body files.
  private(set) var all: Set<UUIDBytes> = []

  /// The names that several responses refer to.
  private(set) var shared: Set<UUIDBytes> = []

  /// Creates an empty set of names.
  init() {}

  /// Reads the names, which takes a look at each page of the table.
  init(in connection: borrowing Connection, _ layout: AppleLayout) throws(SQLiteError) {
    guard layout.hasBodyFiles else { return }
    var rows = try connection.prepare(
      "SELECT receiver_data FROM \(layout.bodyTable) NOT INDEXED WHERE isDataOnFS > 0")
    while try rows.step() { insert(rows.bytes(at: 0)) }
  }

  /// Inserts the name in one row, if it is that of a body file.
  mutating func insert(_ name: [UInt8]) {
    guard let name = UUIDBytes(name) else { return }
    if !all.insert(name).inserted { shared.insert(name) }
  }
}
