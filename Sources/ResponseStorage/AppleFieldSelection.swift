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

  private let fields: [Field]

  /// A bit for each length that a name has; the last is for all lengths from 63 on.
  private let lengths: UInt64

  /// A selected field.
  private struct Field: Sendable {
    let name: FieldName
    let joining: Joining
  }

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
    fields = names.map { Field(name: $0, joining: Joining(of: $0)) }
    lengths = names.reduce(0) { $0 | Self.bit(of: $1.lowercased.count) }
  }

  /// The selection and the fields that a response names in `Vary`.
  func adding(_ vary: Vary) -> FieldSelection {
    guard case .fields(let others) = vary else { return self }
    return FieldSelection(fields.map(\.name) + others)
  }

  /// Whether a name of a length can be among them.
  func mayHold(nameOfLength length: Int) -> Bool { lengths & Self.bit(of: length) != 0 }

  /// How lines of the field are joined that a name is, in any case; `nil` if it is not selected.
  func joining(of name: [UInt8]) -> Joining? {
    // A loop over the array would hold on to each name.
    let fields = fields.span
    for index in fields.indices where fields[index].name.matches(name) {
      return fields[index].joining
    }
    return nil
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
      guard try mayBeSelected(key, selection), let name = try utf8(key),
        let joining = selection.joining(of: name), let value = try utf8(value)
      else { return }
      mayBeRepeated = mayBeRepeated || joining.mayHaveChanged(value)
      fields.append(.init(name: ByteString(name), value: ByteString(value)))
    }
    guard mayBeRepeated, let all = try archivedHeaders(object) else { return HeaderFields(fields) }
    return HeaderFields(all.fields.filter { selection.joining(of: $0.name.bytes) != nil })
  }

  /// Whether a string is as long as the name of a selected field, or its length is not known at once.
  private func mayBeSelected(
    _ name: Object, _ selection: FieldSelection
  ) throws(PropertyListError) -> Bool {
    guard let name = try ascii(name) else { return true }
    return selection.mayHold(nameOfLength: name.count)
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
