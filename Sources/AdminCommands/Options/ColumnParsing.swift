import ArgumentParser
import Bytes
import Rendering

/// The names of all columns, separated by spaces.
let columnNames = Column.all.compactMap(\.name.string).joined(separator: " ")

/// Parses comma-separated columns, or `all`; in a key, `\,` is a comma and `\\` a backslash.
func parseColumns(_ text: String) throws -> [Column] { try parseColumns(text, adding: []) }

/// Parses columns like those of `list`, or `all`, where a command has more of them.
func parseColumns(_ text: String, adding own: [Column]) throws -> [Column] {
  // Sidecar files are another option.
  if text == "all" { return Column.all.filter { !$0.needsSidecars } + own }
  var parts: [[UInt8]] = [[]]
  var bytes = Array(text.utf8)[...]
  while let byte = bytes.popFirst() {
    if byte == UInt8(ascii: ",") {
      parts.append([])
    } else if byte == UInt8(ascii: "\\"), let next = bytes.first,
      next == UInt8(ascii: ",") || next == byte
    {
      parts[parts.count - 1].append(next)
      bytes = bytes.dropFirst()
    } else {
      parts[parts.count - 1].append(byte)
    }
  }
  let names = ([columnNames] + own.compactMap(\.name.string)).joined(separator: " ")
  let all = "Use one of: \(names) user-info:KEY proto-props:KEY."
  // A comma too many, as at the end of a list, is no reason to fail.
  let named = parts.filter { !$0.isEmpty }
  if named.isEmpty { throw ValidationError("No column given. \(all)") }
  return try named.map { name in
    let name = String(decoding: name, as: UTF8.self)
    guard let column = own.first(where: { $0.name.string == name }) ?? Column(name: name) else {
      throw ValidationError("Unknown column '\(printable(name))'. \(all)")
    }
    return column
  }
}
