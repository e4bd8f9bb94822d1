import PropertyLists

/// Reads a whole property list.
func read(
  _ bytes: [UInt8], limits: PropertyListLimits = .standard
) throws -> PropertyListValue {
  let list = try BinaryPropertyList(bytes.span, limits: limits)
  return try list.value(of: list.root)
}

/// Returns a property list of encoded objects, with offsets of two bytes and a trailer that may be wrong.
func list(
  _ objects: [[UInt8]], offsetSize: UInt8 = 2, referenceSize: UInt8 = 1, count: Int? = nil,
  root: Int = 0, table: Int? = nil
) -> [UInt8] {
  var bytes = Array("bplist00".utf8)
  var offsets: [UInt8] = []
  for object in objects {
    offsets += [UInt8(bytes.count >> 8 & 255), UInt8(bytes.count & 255)]
    bytes += object
  }
  let end = bytes.count
  return bytes + offsets + [0, 0, 0, 0, 0, 0, offsetSize, referenceSize]
    + number(count ?? objects.count) + number(root) + number(table ?? end)
}

/// Returns a number as eight bytes.
func number(_ value: Int) -> [UInt8] { (0..<8).map { UInt8(value >> (56 - $0 * 8) & 255) } }
