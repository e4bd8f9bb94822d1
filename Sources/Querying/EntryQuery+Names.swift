import Administration
import Bytes

extension EntryQuery {
  /// Returns the names that a query can use, as a hint to a message of SQLite about a wrong one.
  public static func names(instead message: String) -> String {
    let tables = EntryTable.allCases.map(\.rawValue)
    if let name = word(after: "no such table: ", in: message) {
      return suggestion(name, tables) + "the tables are \(tables.joined(separator: ", "))"
    }
    guard let name = word(after: "no such column: ", in: message) else {
      return "see the tables and columns with 'urlcache-admin query --help'"
    }
    let table =
      EntryTable.allCases.first { name.utf8.starts(with: "\($0.rawValue).".utf8) } ?? .entries
    let columns = table.columns.map(\.name)
    // The name of a column follows that of its table, or an abbreviation for it.
    let column = name.utf8.split(separator: UInt8(ascii: ".")).last.flatMap { String($0) } ?? name
    return suggestion(column, columns)
      + "the columns of '\(table.rawValue)' are \(columns.joined(separator: ", "))"
  }

  private static func suggestion(_ name: String, _ names: [String]) -> String {
    Spelling.nearest(to: name, among: names).map { "did you mean '\($0)'? " } ?? ""
  }

  private static func word(after beginning: String, in message: String) -> String? {
    guard message.utf8.starts(with: beginning.utf8) else { return nil }
    return String(message.utf8.dropFirst(beginning.utf8.count))
  }
}
