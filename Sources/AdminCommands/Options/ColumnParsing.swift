import ArgumentParser
import Bytes
import Rendering

/// The names of all columns, separated by spaces.
let columnNames = Column.all.compactMap(\.name.string).joined(separator: " ")

/// Parses comma-separated columns, or `all`; in a key, `\,` is a comma and `\\` a backslash.
func parseColumns(_ text: String) throws -> [Column] {
  // Side files are another option.
  if text == "all" { return Column.all.filter { !$0.needsSidecars } }
  var names: [[UInt8]] = [[]]
  var bytes = Array(text.utf8)[...]
  while let byte = bytes.popFirst() {
    if byte == UInt8(ascii: ",") {
      names.append([])
    } else if byte == UInt8(ascii: "\\"), let next = bytes.first,
      next == UInt8(ascii: ",") || next == byte
    {
      names[names.count - 1].append(next)
      bytes = bytes.dropFirst()
    } else {
      names[names.count - 1].append(byte)
    }
  }
  let all = "Use one of: \(columnNames) user-info:KEY proto-props:KEY."
  // A comma too many, as at the end of a list, is no reason to fail.
  let named = names.filter { !$0.isEmpty }
  if named.isEmpty { throw ValidationError("No column given. \(all)") }
  return try named.map { name in
    let name = String(decoding: name, as: UTF8.self)
    guard let column = Column(name: name) else {
      throw ValidationError("Unknown column '\(printable(name))'. \(all)")
    }
    return column
  }
}
