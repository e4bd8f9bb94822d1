import HTTPCaching
import PropertyLists

extension BinaryPropertyList {
  /// Of archived header fields those that freshness depends on, as ``archivedHeaders(_:)`` gives them.
  ///
  /// The key `__hhaa__` is by far the most of what a list of freshness would have to decode, and says
  /// nothing new unless a field is repeated; it is looked at only where one may be.
  func archivedFreshnessFields(_ object: Object) throws(PropertyListError) -> HeaderFields? {
    guard try kind(of: object) == .dictionary else { return nil }
    var fields: [HeaderFields.Field] = []
    var mayBeRepeated = false
    try forEachEntry(in: object) { (key, value) throws(PropertyListError) in
      guard try mayNameFreshnessField(key), let name = try utf8(key),
        let known = FieldName.ofFreshness.first(where: { $0.matches(name) }),
        let value = try utf8(value)
      else { return }
      mayBeRepeated = mayBeRepeated || known.mayBeRepeated(in: value)
      fields.append(.init(name: ByteString(name), value: ByteString(value)))
    }
    guard mayBeRepeated, let all = try archivedHeaders(object) else { return HeaderFields(fields) }
    return HeaderFields(all.fields.filter { $0.isOfFreshness })
  }

  /// Whether a string is as long as the name of such a field, or its length is not known at once.
  private func mayNameFreshnessField(_ name: Object) throws(PropertyListError) -> Bool {
    guard let name = try ascii(name) else { return true }
    let count = name.count
    return FieldName.ofFreshness.contains { $0.lowercased.count == count }
  }
}

extension HeaderFields.Field {
  /// Whether freshness depends on the field.
  fileprivate var isOfFreshness: Bool {
    FieldName.ofFreshness.contains { $0.matches(name.bytes) }
  }
}

extension FieldName {
  /// Whether a value may be that of several lines, joined by `, `, and mean something else than they
  /// do apart.
  fileprivate func mayBeRepeated(in value: [UInt8]) -> Bool {
    let comma = UInt8(ascii: ",")
    switch self {
    // A list, but for a quotation mark that one line leaves open.
    case .cacheControl: return value.contains(UInt8(ascii: "\""))
    case .date, .expires, .lastModified:
      // A date has a comma of its own, after the name of a day.
      let rest = value.drop { $0.asciiLowercased >= UInt8(ascii: "a") }
      return rest.dropFirst(rest.startIndex == 0 ? 0 : 1).contains(comma)
    default: return value.contains(comma)
    }
  }
}
