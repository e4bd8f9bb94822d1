import Bytes
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
  private func mayHold(nameOfLength length: Int) -> Bool { lengths & Self.bit(of: length) != 0 }

  /// The field that a name is, in any case; `nil` if it is not selected.
  func name(matching name: Span<UInt8>) -> FieldName? {
    mayHold(nameOfLength: name.count) ? names.name(matching: name) : nil
  }

  private static func bit(of length: Int) -> UInt64 { 1 << UInt64(min(length, 63)) }
}

extension BinaryPropertyList {
  /// Of archived header fields those that are selected, as ``archivedHeaders(_:)`` gives them.
  ///
  /// The key `__hhaa__` is by far the most of what would have to be decoded, and says nothing new unless
  /// a field is repeated; it is looked at only where one may be.
  ///
  /// - Parameter damage: The first error of a field, which is then left out.
  func archivedHeaders(
    _ object: Object, _ selection: FieldSelection, _ damage: inout PropertyListError?
  ) throws(PropertyListError) -> HeaderFields? {
    guard let entries = try entries(of: object) else { return nil }
    var fields: [HeaderFields.Field] = []
    var mayBeRepeated = false
    for position in 0..<entries.count {
      damage.note { () throws(PropertyListError) in
        let key = try key(position, of: entries)
        guard let field = try name(of: key, selection), let name = try utf8(key),
          let value = try utf8(value(position, of: entries))
        else { return }
        mayBeRepeated = mayBeRepeated || field.mayChange(joined: value.span)
        if fields.isEmpty { fields.reserveCapacity(Self.usualCount) }
        fields.append(.init(name: ByteString(name), value: ByteString(value)))
      }
    }
    guard mayBeRepeated, let all = try archivedHeaders(object, &damage) else {
      return HeaderFields(fields)
    }
    return HeaderFields(all.fields.filter { selection.name(matching: $0.name.bytes.span) != nil })
  }

  /// How many fields most responses have of those that caching depends on: there is room for so many at
  /// once, as an array that grows is copied.
  private static var usualCount: Int { 6 }

  /// The field that a string names; `nil` if it is not selected.
  private func name(
    of key: Object, _ selection: FieldSelection
  ) throws(PropertyListError) -> FieldName? {
    // Nearly all names are ASCII, and most are not selected: those are not copied.
    if let name = try ascii(key) { return selection.name(matching: name) }
    return try utf8(key).flatMap { selection.name(matching: $0.span) }
  }
}

extension FreshnessFields {
  /// Reads archived header fields, of which none was read before.
  ///
  /// Values are read where they are: hardly any is in UTF-16, or may be of several lines.
  ///
  /// - Parameter damage: The first error of a field, which is then left out.
  /// - Returns: Whether the object is a dictionary.
  mutating func read(
    archived object: BinaryPropertyList.Object, in list: borrowing BinaryPropertyList,
    _ damage: inout PropertyListError?
  ) throws(PropertyListError) -> Bool {
    guard let entries = try list.entries(of: object) else { return false }
    var isPlain = true
    var position = 0
    while position < entries.count {
      damage.note { () throws(PropertyListError) in
        guard let found = try list.next(in: entries, from: &position, whoseKeyIsIn: freshnessKeys),
          let field = FreshnessField(rawValue: found.place)
        else { return }
        guard let value = try list.ascii(list.value(found.position, of: entries)),
          read(joined: value, of: field)
        else { return isPlain = false }
      }
    }
    if isPlain { return true }
    guard let fields = try list.archivedHeaders(object, .freshness, &damage) else { return false }
    self = FreshnessFields(FieldSection(fields), receivedAt: responseTime)
    return true
  }
}

/// The names of the fields, each at the place of its raw value.
private let freshnessKeys = PropertyListKeySet(FreshnessField.allCases.map(\.lowercased))
