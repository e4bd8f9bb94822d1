import Bytes
import HTTPCaching
import PropertyLists

/// Decoding of archived responses: a dictionary of an `Array`, and the `Version` that defines what each
/// position of the array means.
extension StoredResponse {
  /// What one response leaves for the next: the memory of its strings, and the properties that it may have too.
  struct SpareMemory {
    var key: [UInt8] = []
    var url: [UInt8] = []
    var mimeType: [UInt8] = []
    var requestURL: [UInt8] = []
    var method: [UInt8] = []
    var properties = RecentProperties()
    /// The total length of all property lists decoded with this memory.
    var byteCount = 0
  }

  /// Resets this to an empty response with another id, and keeps the memory of its strings.
  mutating func reset(_ id: ID, reusing memory: inout SpareMemory) {
    Self.reclaim(&key, into: &memory.key)
    Self.reclaim(&url, into: &memory.url)
    Self.reclaim(&mimeType, into: &memory.mimeType)
    Self.reclaim(&request.url, into: &memory.requestURL)
    Self.reclaim(&request.method, into: &memory.method)
    self = StoredResponse(id: id)
  }

  private static func reclaim(_ text: inout ByteString?, into memory: inout [UInt8]) {
    // The memory of a huge text would stay for all responses after it.
    guard let bytes = text.take()?.bytes, bytes.capacity <= 1 << 16 else { return }
    memory = bytes
  }

  /// Decodes the parts of a `response_object` in `projection`. Its only known version is 1.
  ///
  /// - Parameter bodyLength: The length of the body, for ``Projection/screenedFields``; `nil` if it is not known yet.
  mutating func decodeResponseObject(
    _ bytes: Span<UInt8>, _ projection: Projection, bodyLength: Int64? = nil,
    reusing memory: inout SpareMemory
  ) throws(PropertyListError) {
    let list = try BinaryPropertyList(bytes)
    guard let array = try list.archivedElements() else {
      notes.append(.init(.undecodable, "response_object has no Array"))
      return
    }
    // Decode the rest despite an error: the result for a part must not depend on which others are read.
    var damage: PropertyListError?
    if projection.contains(.notes) {
      damage.note { () throws(PropertyListError) in
        // Version 1 is the only one that was ever seen, in schemas 11 to 203. Decoding goes on for
        // another one: a user would rather see a response with a note than none.
        if try list.archivedVersion() != 1 {
          notes.append(.init(.unknownVersion, "response_object has an unknown version"))
        }
      }
    }
    if projection.contains(.url) {
      damage.note { () throws(PropertyListError) in
        if let string = try list.urlString(0, of: array) {
          url = try list.text(string, reusing: &memory.url)
        }
      }
    }
    // The array may be shorter: a 301 of a real cache ends after the header fields. What is missing
    // at its end counts as null.
    if projection.contains(.stored), array.count > 1 {
      damage.note { () throws(PropertyListError) in
        // A number that is no plausible time becomes `nil`. Foundation's own `Date` traps on NaN
        // when it is printed.
        stored = try list.real(1, of: array).flatMap { Timestamp(secondsSince2001: $0) }
      }
      if stored == nil {
        notes.append(.init(.badTime, "the creation time of the response is not a time"))
      }
    }
    if projection.contains(.status) {
      damage.note { () throws(PropertyListError) in
        status = try list.integer(3, of: array)
        if status == nil { try noteUnlessNull(3, of: array, in: list, "status is not an integer") }
      }
    }
    if !projection.isDisjoint(with: .ofResponseHeaders) {
      damage.note { () throws(PropertyListError) in
        try decodeHeaders(4, of: array, in: list, projection, bodyLength)
      }
    }
    if projection.contains(.mimeType) {
      damage.note { () throws(PropertyListError) in
        guard let object = try list.element(6, of: array) else { return }
        mimeType = try list.textUnlessNull(object, reusing: &memory.mimeType)
        if mimeType == nil {
          try noteUnlessNull(6, of: array, in: list, "media type is not a string")
        }
      }
    }
    if projection.contains(.notes) { noteResponseUnlessUTF8() }
    if let damage { throw damage }
  }

  /// Decodes the header fields of a response.
  private mutating func decodeHeaders(
    _ place: Int, of array: BinaryPropertyList.Elements, in list: borrowing BinaryPropertyList,
    _ projection: Projection, _ bodyLength: Int64?
  ) throws(PropertyListError) {
    guard let fields = try list.element(place, of: array) else { return }
    var damage: PropertyListError?
    if projection.screensFields {
      var screen = FieldScreen(ofResponseWith: bodyLength)
      responseHeaders =
        switch screen.read(fields, in: list) {
        // The status alone can make a body partial; what was stored is then in the fields.
        case .plain where status != 206: HeaderFields()
        case .plain, .remarkable: try list.archivedHeaders(fields, .response, &damage)
        case .unclear: try list.archivedHeaders(fields, &damage)
        }
    } else if !projection.isDisjoint(with: [.responseHeaders, .screenedFields]) {
      responseHeaders = try list.archivedHeaders(fields, &damage)
    } else if projection.contains(.contentFields) {
      let isAlone = projection.isDisjoint(with: [.cachingFields, .freshnessFields])
      if isAlone { responseHeaders = try list.archivedHeaders(fields, .content, &damage) }
      // A value with a comma may be that of several lines, which only decoding all fields shows.
      if !isAlone || responseHeaders?.hasComma == true {
        responseHeaders = try list.archivedHeaders(fields, &damage)
      }
    } else if projection.contains(.cachingFields) {
      responseHeaders = try list.archivedHeaders(fields, .response, &damage)
    } else if let stored {
      // Read in place: moving the fields there would cost as much as reading them.
      freshnessFields = FreshnessFields(receivedAt: stored.wholeSeconds)
      var areRead = false
      defer { if !areRead { freshnessFields = nil } }
      areRead = try freshnessFields?.read(archived: fields, in: list, &damage) == true
    }
    if responseHeaders == nil, freshnessFields == nil {
      try noteUnlessNull(place, of: array, in: list, "header fields are not a dictionary")
    }
    if let damage { throw damage }
  }

  /// Adds a note if a position of a message has a value of the wrong type that is not a null token.
  mutating func noteUnlessNull(
    _ place: Int, of array: BinaryPropertyList.Elements, in list: borrowing BinaryPropertyList,
    _ what: String
  ) throws(PropertyListError) {
    guard let object = try list.element(place, of: array), try !list.isNull(object) else { return }
    notes.append(.init(.wrongType, "the \(what)"))
  }

  /// Decodes a dictionary of properties; any other value becomes one property without a name.
  static func decodeProperties(_ bytes: Span<UInt8>) throws(PropertyListError) -> [Property] {
    let list = try BinaryPropertyList(bytes)
    return Property.list(from: try list.value(of: list.root))
  }
}

extension Projection {
  /// What needs the `response_object`.
  static let ofResponseObject: Self = [
    .url, .stored, .status, .mimeType, .ofResponseHeaders, .notes,
  ]
}

extension HeaderFields {
  fileprivate var hasComma: Bool {
    fields.contains { $0.value.bytes.contains(UInt8(ascii: ",")) }
  }
}

extension PropertyListError? {
  /// Runs one step of a decoding, and keeps the first error of all steps.
  @inline(__always)
  mutating func note(_ body: () throws(PropertyListError) -> Void) {
    do throws(PropertyListError) { try body() } catch { self = self ?? error }
  }
}

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
