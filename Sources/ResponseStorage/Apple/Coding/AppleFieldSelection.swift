import Bytes
import HTTPCaching
import PropertyLists

/// The header fields of a message to decode.
struct FieldSelection: Sendable {
  /// The fields that freshness depends on.
  static let freshness = FieldSelection(FieldName.ofFreshness)

  /// The fields of a response that caching depends on.
  static let response = FieldSelection(FieldName.ofResponse)

  /// The fields of a request that caching depends on, except those that `Vary` names.
  static let request = FieldSelection(FieldName.ofRequest)

  /// The fields of a response that its body as text depends on.
  static let content = FieldSelection([FieldName("Content-Type"), .contentEncoding])

  private var names: FieldNameSet

  /// A bit for each length of a selected name; the last bit stands for all lengths from 63.
  // A response has about 15 fields and freshness needs 6. The length alone rules out most of the
  // others, before any byte of a name is read.
  private var lengths: UInt64

  init(_ names: [FieldName]) {
    self.names = FieldNameSet(names)
    lengths = names.reduce(0) { $0 | Self.bit(of: $1.lowercased.count) }
  }

  /// Returns the selection with the fields that a response names in `Vary` added.
  func adding(_ vary: Vary) -> FieldSelection {
    guard case .fields(let others) = vary else { return self }
    var selection = self
    for name in others {
      selection.names.insert(name)
      selection.lengths |= Self.bit(of: name.lowercased.count)
    }
    return selection
  }

  /// Whether a name of this length may be selected, which excludes most names without a comparison.
  private func mayHold(nameOfLength length: Int) -> Bool { lengths & Self.bit(of: length) != 0 }

  /// Returns the field with this name in any case, or `nil` if it is not selected.
  func name(matching name: Span<UInt8>) -> FieldName? {
    mayHold(nameOfLength: name.count) ? names.name(matching: name) : nil
  }

  private static func bit(of length: Int) -> UInt64 { 1 << UInt64(min(length, 63)) }
}

extension BinaryPropertyList {
  /// Returns the selected fields of archived header fields, as ``archivedHeaders(_:)`` decodes them.
  ///
  /// The key `__hhaa__` is most of the work of decoding, but adds information only if a field is
  /// repeated; it is decoded only where one may be.
  ///
  /// - Parameter damage: Receives the first error of a field; such a field is left out.
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
    // Decoding the Base64 and the property list inside of it costs several times as much as all
    // other fields.
    guard mayBeRepeated, let all = try archivedHeaders(object, &damage) else {
      return HeaderFields(fields)
    }
    return HeaderFields(all.fields.filter { selection.name(matching: $0.name.bytes.span) != nil })
  }

  /// The number of caching fields that most responses have. Reserving room for them avoids copies of a
  /// growing array.
  private static var usualCount: Int { 6 }

  /// Returns the field that a string names, or `nil` if it is not selected.
  private func name(
    of key: Object, _ selection: FieldSelection
  ) throws(PropertyListError) -> FieldName? {
    // Nearly all names are ASCII, and most are not selected, so compare them without a copy.
    if let name = try ascii(key) { return selection.name(matching: name) }
    return try utf8(key).flatMap { selection.name(matching: $0.span) }
  }
}

extension FreshnessFields {
  /// Reads archived header fields into an empty value.
  ///
  /// Values are read in place; the few in UTF-16 or with repeated fields are decoded separately.
  ///
  /// - Parameter damage: Receives the first error of a field; such a field is left out.
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

/// The names of the fields, each at the index of its raw value.
// The dictionary is walked once for all names. A search for each name would walk it six times.
private let freshnessKeys = PropertyListKeySet(FreshnessField.allCases.map(\.lowercased))

/// A quick look at header fields in place, which tells of most messages that no check finds anything in them.
///
/// It may take a message for remarkable that is not, which only costs the decoding of its fields.
struct FieldScreen: ~Copyable {
  /// What header fields are like.
  enum Verdict {
    /// All fields are printable ASCII, and none causes a finding.
    case plain
    /// All fields are printable ASCII, and those that caching depends on may cause a finding.
    case remarkable
    /// Any field may cause a finding.
    case unclear
  }

  private static let ofResponse = FieldSelection([.cacheControl, .contentEncoding, .contentLength])
  private static let ofRequest = FieldSelection([.cacheControl])

  private let selection: FieldSelection
  private let bodyLength: Int64?
  private var isCoded = false
  private var hasOtherLength = false
  private var mayForbid = false

  /// Creates a screen for the fields of a response.
  ///
  /// - Parameter bodyLength: The length of the stored body; `nil` if it is not known yet.
  init(ofResponseWith bodyLength: Int64?) {
    selection = Self.ofResponse
    self.bodyLength = bodyLength
  }

  /// Creates a screen for the fields of a request.
  init(ofRequest: Void = ()) {
    selection = Self.ofRequest
    bodyLength = nil
  }

  /// Reads an object that should be a dictionary of header fields.
  mutating func read(
    _ object: BinaryPropertyList.Object, in list: borrowing BinaryPropertyList
  ) -> Verdict {
    // An error is reported when the fields are decoded.
    guard (try? readPrintable(object, list)) ?? false else { return .unclear }
    // The announced length is that of the coded body, and the stored body has no coding.
    return mayForbid || hasOtherLength && !isCoded ? .remarkable : .plain
  }

  /// Reads header fields.
  ///
  /// - Returns: Whether they are a dictionary of printable ASCII.
  private mutating func readPrintable(
    _ object: BinaryPropertyList.Object, _ list: borrowing BinaryPropertyList
  ) throws(PropertyListError) -> Bool {
    guard let entries = try list.entries(of: object) else { return false }
    for position in 0..<entries.count {
      let key = try list.key(position, of: entries)
      guard let name = try list.ascii(key),
        let value = try list.ascii(list.value(position, of: entries))
      else { return false }
      // The copy that keeps repeated fields apart adds no text to the joined values.
      if name.count == 8, try list.isString(key, equalTo: allValuesKey) { continue }
      guard PrintableASCII.isAll(of: name), PrintableASCII.isAll(of: value) else { return false }
      guard let field = selection.name(matching: name) else { continue }
      if field == .cacheControl {
        mayForbid = mayForbid || Self.mayForbid(value)
      } else if field == .contentEncoding {
        isCoded = true
      } else if bodyLength == nil || Self.number(value) != bodyLength {
        hasOtherLength = true
      }
    }
    return true
  }

  /// Whether `Cache-Control` may have `no-store` or `no-cache`, in quotes or not: whether `no-` is in it, in any case.
  private static func mayForbid(_ value: Span<UInt8>) -> Bool {
    var place = 2
    while place < value.count {
      if value[place] == UInt8(ascii: "-"), value[place - 1] | 0x20 == UInt8(ascii: "o"),
        value[place - 2] | 0x20 == UInt8(ascii: "n")
      {
        return true
      }
      place += 1
    }
    return false
  }

  /// Parses up to 18 decimal digits, which cannot overflow; `nil` for anything else.
  private static func number(_ text: Span<UInt8>) -> Int64? {
    guard 1...18 ~= text.count else { return nil }
    var number: Int64 = 0
    for place in text.indices {
      guard text[place].isASCIIDigit else { return nil }
      number = number * 10 + Int64(text[place] - UInt8(ascii: "0"))
    }
    return number
  }
}
