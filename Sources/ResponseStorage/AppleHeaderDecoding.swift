import PropertyLists

extension BinaryPropertyList {
  /// Archived header fields, in the order of the dictionary.
  ///
  /// The dictionary has one value a name, with repeated fields joined by `, `. Newer systems add a
  /// key `__hhaa__` with all values of each name, from which repeated fields are told apart if it
  /// agrees; its damage is no error, as the joined values are still there.
  ///
  /// - Parameter damage: The first error of a field, which is then left out.
  func archivedHeaders(
    _ object: Object, _ damage: inout PropertyListError?
  ) throws(PropertyListError) -> HeaderFields? {
    guard try kind(of: object) == .dictionary else { return nil }
    var fields: [HeaderFields.Field] = []
    var repeated: [ByteString: [ByteString]] = [:]
    try forEachEntry(in: object) { (name, value) throws(PropertyListError) in
      damage.note { () throws(PropertyListError) in
        guard let name = try utf8(name) else { return }
        if name == allValuesKey {
          if let text = try utf8(value) { repeated = (try? Self.allValues(text)) ?? [:] }
        } else if let value = try utf8(value) {
          fields.append(.init(name: ByteString(name), value: ByteString(value)))
        }
      }
    }
    guard !repeated.isEmpty else { return HeaderFields(fields) }
    return HeaderFields(
      fields.flatMap { field in
        // What says something else than the joined value counts nowhere: most never look at it.
        guard let values = repeated[field.name], values.count > 1,
          Array(values.map(\.bytes).joined(separator: Array(", ".utf8))) == field.value.bytes
        else { return [field] }
        return values.map { HeaderFields.Field(name: field.name, value: $0) }
      })
  }

  /// Decodes the value of `__hhaa__`: white space and base64, of a dictionary of arrays. It may be left out
  /// of which no field is repeated.
  private static func allValues(_ text: [UInt8]) throws(PropertyListError) -> [ByteString:
    [ByteString]]
  {
    guard let bytes = Base64.decode(text) else { return [:] }
    let list = try BinaryPropertyList(bytes.span)
    // Hardly any has a repeated field, and then nothing else need be decoded.
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

  /// Whether of a dictionary of arrays one has several elements.
  private var holdsRepeatedField: Bool {
    get throws(PropertyListError) {
      var result = false
      try forEachEntry(in: root) { (_, values) throws(PropertyListError) in
        if let count = try elements(of: values)?.count, count > 1 { result = true }
      }
      return result
    }
  }
}

private let allValuesKey = Array("__hhaa__".utf8)
