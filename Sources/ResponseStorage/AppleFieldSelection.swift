import HTTPCaching
import PropertyLists

/// Which header fields to decode of a message.
struct FieldSelection: Sendable {
  /// The fields that freshness depends on.
  static let freshness = FieldSelection(FieldName.ofFreshness)

  /// The fields of a response that caching depends on.
  static let response = FieldSelection(FieldName.ofResponse)

  /// The fields of a request that caching depends on, but for those that `Vary` names.
  static let request = FieldSelection(FieldName.ofRequest)

  private var names: FieldNameSet

  /// A bit for each length that a name has; the last is for all lengths from 63 on.
  private var lengths: UInt64

  /// What it takes for a value to be that of several lines, joined by `, `, and to mean something else than
  /// they do apart.
  enum Joining: Sendable {
    /// Nothing does: it is a list, or only matters for being there.
    case harmless
    /// A quotation mark: it is a list, but one line may leave a quotation open.
    case quotation
    /// A comma.
    case comma
    /// A comma that is not the one after the name of a day.
    case commaInDate

    init(of name: FieldName) {
      switch name {
      case .cacheControl: self = .quotation
      case .date, .expires, .lastModified: self = .commaInDate
      case .age, .entityTag, .contentLength, .contentLocation, .contentRange, .pragma: self = .comma
      default: self = .harmless
      }
    }
  }

  init(_ names: [FieldName]) {
    self.names = FieldNameSet(names)
    lengths = names.reduce(0) { $0 | Self.bit(of: $1.lowercased.count) }
  }

  /// The selection and the fields that a response names in `Vary`.
  func adding(_ vary: Vary) -> FieldSelection {
    guard case .fields(let others) = vary else { return self }
    var selection = self
    for name in others {
      selection.names.insert(name)
      selection.lengths |= Self.bit(of: name.lowercased.count)
    }
    return selection
  }

  /// Whether a name of a length can be among them.
  func mayHold(nameOfLength length: Int) -> Bool { lengths & Self.bit(of: length) != 0 }

  /// How lines of the field are joined that a name is, in any case; `nil` if it is not selected.
  func joining(of name: Span<UInt8>) -> Joining? {
    names.name(matching: name).map { Joining(of: $0) }
  }

  private static func bit(of length: Int) -> UInt64 { 1 << UInt64(min(length, 63)) }
}

extension BinaryPropertyList {
  /// Of archived header fields those that are selected, as ``archivedHeaders(_:)`` gives them.
  ///
  /// The key `__hhaa__` is by far the most of what would have to be decoded, and says nothing new unless
  /// a field is repeated; it is looked at only where one may be.
  func archivedHeaders(
    _ object: Object, _ selection: FieldSelection
  ) throws(PropertyListError) -> HeaderFields? {
    guard try kind(of: object) == .dictionary else { return nil }
    var fields: [HeaderFields.Field] = []
    var mayBeRepeated = false
    try forEachEntry(in: object) { (key, value) throws(PropertyListError) in
      guard let joining = try joining(of: key, selection), let name = try utf8(key),
        let value = try utf8(value)
      else { return }
      mayBeRepeated = mayBeRepeated || joining.mayHaveChanged(value)
      if fields.isEmpty { fields.reserveCapacity(Self.usualCount) }
      fields.append(.init(name: ByteString(name), value: ByteString(value)))
    }
    guard mayBeRepeated, let all = try archivedHeaders(object) else { return HeaderFields(fields) }
    return HeaderFields(all.fields.filter { selection.joining(of: $0.name.bytes.span) != nil })
  }

  /// How many fields most responses have of those that caching depends on: there is room for so many at
  /// once, as an array that grows is copied.
  private static var usualCount: Int { 6 }

  /// How lines of the field are joined that a string names; `nil` if it is not selected.
  private func joining(
    of name: Object, _ selection: FieldSelection
  ) throws(PropertyListError) -> FieldSelection.Joining? {
    // Nearly all names are ASCII, and most are not selected: those are not copied.
    if let name = try ascii(name) {
      return selection.mayHold(nameOfLength: name.count) ? selection.joining(of: name) : nil
    }
    return try utf8(name).flatMap { selection.joining(of: $0.span) }
  }
}

extension FieldSelection.Joining {
  /// Whether a value may be that of several lines, and mean something else than they do apart.
  fileprivate func mayHaveChanged(_ value: [UInt8]) -> Bool {
    let comma = UInt8(ascii: ",")
    switch self {
    case .harmless: return false
    case .quotation: return value.contains(UInt8(ascii: "\""))
    case .comma: return value.contains(comma)
    case .commaInDate:
      let rest = value.drop { $0.asciiLowercased >= UInt8(ascii: "a") }
      return rest.dropFirst(rest.startIndex == 0 ? 0 : 1).contains(comma)
    }
  }
}
