import Bytes
import PropertyLists

extension BinaryPropertyList {
  /// Returns archived header fields, in the order of the dictionary.
  ///
  /// The dictionary has one value for each name, with repeated fields joined by `, `. Newer systems add a
  /// key `__hhaa__` with all values of each name. If these agree with the joined value, they are used to
  /// separate repeated fields; damage in them is not an error, as the joined values are still there.
  ///
  /// - Parameter damage: Receives the first error of a field; such a field is left out.
  func archivedHeaders(
    _ object: Object, _ damage: inout PropertyListError?
  ) throws(PropertyListError) -> HeaderFields? {
    guard let entries = try entries(of: object) else { return nil }
    var fields: [HeaderFields.Field] = []
    // Reserve room to avoid copies, but limit it: a damaged count could ask for any amount of memory.
    fields.reserveCapacity(min(entries.count, 32))
    var repeated: [ByteString: [ByteString]] = [:]
    for position in 0..<entries.count {
      damage.note { () throws(PropertyListError) in
        let name = try key(position, of: entries)
        if try isString(name, equalTo: allValuesKey) {
          if let text = try text(value(position, of: entries)) {
            // Systems up to macOS 10.12 do not write this copy, so a response must be readable
            // without it. An error in it is therefore the same as its absence.
            repeated = (try? Self.allValues(text.bytes)) ?? [:]
          }
        } else if let name = try text(name), let value = try text(value(position, of: entries)) {
          fields.append(.init(name: name, value: value))
        }
      }
    }
    guard !repeated.isEmpty else { return HeaderFields(fields) }
    return HeaderFields(
      fields.flatMap { field in
        // Ignore values that contradict the joined value, which is the only one that most code reads.
        guard let values = repeated[field.name], values.count > 1,
          Array(values.map(\.bytes).joined(separator: Array(", ".utf8))) == field.value.bytes
        else { return [field] }
        return values.map { HeaderFields.Field(name: field.name, value: $0) }
      })
  }

  /// Decodes the value of `__hhaa__`: white space, then the base64 of a dictionary of arrays.
  ///
  /// The result may be empty if no field is repeated.
  private static func allValues(
    _ text: [UInt8]
  ) throws(PropertyListError) -> [ByteString: [ByteString]] {
    guard let bytes = Base64.decode(text) else { return [:] }
    let list = try BinaryPropertyList(bytes.span)
    // Hardly any response has a repeated field; the rest need not be decoded.
    // Looking at the counts of the arrays needs no copies.
    guard try list.holdsRepeatedField else { return [:] }
    guard case .dictionary(let entries) = try list.value(of: list.root) else { return [:] }
    var result: [ByteString: [ByteString]] = [:]
    for entry in entries {
      guard case .array(let values) = entry.value else { continue }
      result[ByteString(entry.key)] = values.compactMap {
        if case .string(let value) = $0 { ByteString(value) } else { nil }
      }
    }
    return result
  }

  /// Whether any array in a dictionary of arrays has several elements.
  private var holdsRepeatedField: Bool {
    get throws(PropertyListError) {
      guard let entries = try entries(of: root) else { return false }
      for position in 0..<entries.count {
        if let values = try elements(of: value(position, of: entries)), values.count > 1 {
          return true
        }
      }
      return false
    }
  }
}

/// The key of the copy that keeps repeated fields apart.
let allValuesKey: PropertyListKey = "__hhaa__"
