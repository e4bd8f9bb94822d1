import Files
import HTTPCaching
import PropertyLists

/// How CFNetwork archives a response and a request: a dictionary of an `Array` and the `Version` that
/// says what each place of it holds.
extension StoredResponse {
  /// The memory of texts that nobody needs any more, for those of the next response.
  struct SpareMemory {
    var url: [UInt8] = []
    var mimeType: [UInt8] = []
    /// The lengths of all property lists that were decoded meanwhile.
    var byteCount = 0
  }

  /// Forgets everything, and becomes the response called `id`.
  mutating func become(_ id: ID, sparing memory: inout SpareMemory) {
    if let url = url.take() { memory.url = url.bytes }
    if let mimeType = mimeType.take() { memory.mimeType = mimeType.bytes }
    self = StoredResponse(id: id)
  }

  /// Decodes what `projection` asks for of a `response_object`, whose only known version is 1.
  mutating func decodeResponseObject(
    _ bytes: Span<UInt8>, _ projection: Projection, reusing memory: inout SpareMemory
  ) throws(PropertyListError) {
    let list = try BinaryPropertyList(bytes)
    let root = list.root
    guard let array = try list.archivedElements() else {
      notes.append(.init(.undecodable, "response_object has no Array"))
      return
    }
    if projection.contains(.notes) {
      let version = try list.value(forKey: .version, in: root)
      let number = if let version { try list.integer(version) } else { nil as Int64? }
      if number != 1 {
        notes.append(.init(.unknownVersion, "response_object has an unknown version"))
      }
    }
    if projection.contains(.url), let place = try list.element(0, of: array) {
      url = try list.archivedURL(place, reusing: &memory.url)
    }
    if projection.contains(.stored), let place = try list.element(1, of: array) {
      stored = try list.real(place).flatMap { Timestamp(secondsSince2001: $0) }
      if stored == nil {
        notes.append(.init(.badTime, "the creation time of the response is no time"))
      }
    }
    if projection.contains(.status), let place = try list.element(3, of: array) {
      status = try list.integer(place)
    }
    if !projection.isDisjoint(with: .ofResponseHeaders), let place = try list.element(4, of: array)
    {
      responseHeaders =
        projection.contains(.responseHeaders)
        ? try list.archivedHeaders(place)
        : try list.archivedHeaders(
          place, projection.contains(.cachingFields) ? .response : .freshness)
    }
    if projection.contains(.mimeType), let place = try list.element(6, of: array) {
      mimeType = try list.text(place, reusing: &memory.mimeType)
    }
  }

  /// Where a `request_object` of a version keeps what.
  private struct RequestPlaces {
    let method: Int
    let headers: Int
    let body: Int
    let bodyParts: Int?

    init?(version: Int64) {
      switch version {
      case 3: (method, headers, body, bodyParts) = (12, 13, 14, nil)
      case 4: (method, headers, body, bodyParts) = (13, 14, 15, nil)
      case 9: (method, headers, body, bodyParts) = (18, 19, 20, 21)
      default: return nil
      }
    }
  }

  /// Decodes what `projection` asks for of a `request_object` of version 3, 4 or 9; of another
  /// version, what can be told by its shape.
  mutating func decodeRequestObject(
    _ bytes: Span<UInt8>, _ projection: Projection
  ) throws(PropertyListError) {
    let list = try BinaryPropertyList(bytes)
    let root = list.root
    guard let array = try list.archivedElements() else {
      notes.append(.init(.undecodable, "request_object has no Array"))
      return
    }
    if let place = try list.element(1, of: array) {
      request.url = try list.archivedURL(place)
    }
    let version = try list.value(forKey: .version, in: root)
    let number = if let version { try list.integer(version) } else { nil as Int64? }
    guard let number, let places = RequestPlaces(version: number) else {
      notes.append(.init(.unknownVersion, "request_object has an unknown version"))
      try decodeRequestByShape(list, array)
      return
    }
    if projection.contains(.method), let place = try list.element(places.method, of: array) {
      request.method = try list.text(place)
    }
    if !projection.isDisjoint(with: .ofRequestHeaders),
      let place = try list.element(places.headers, of: array)
    {
      request.headers =
        projection.contains(.requestHeaders)
        ? try list.archivedHeaders(place) : try list.archivedHeaders(place, requestFields)
    }
    if projection.contains(.requestDetails) {
      if let place = try list.element(2, of: array) {
        request.timeoutSeconds = try list.real(place)
      }
      if let place = try list.element(3, of: array) {
        request.cachePolicy = try list.integer(place)
      }
      var body: [UInt8]?
      if let place = try list.element(places.body, of: array) {
        body = try list.dataBytes(place)
      }
      if let index = places.bodyParts, let place = try list.element(index, of: array),
        let parts = try list.elements(of: place)
      {
        for position in 0..<parts.count {
          guard let part = try list.element(position, of: parts),
            let bytes = try list.dataBytes(part)
          else { continue }
          body = (body ?? []) + bytes
        }
      }
      request.body = body
    }
  }

  /// The fields of the request that caching depends on, by what is known of the response.
  private var requestFields: FieldSelection {
    let lines = responseHeaders?.fields.filter { FieldName.vary.matches($0.name.bytes) } ?? []
    if lines.isEmpty { return .request }
    let vary = lines.map { FieldLine(name: $0.name.bytes, value: $0.value.bytes) }
    return .request.adding(Vary(FieldSection(vary)))
  }

  /// Takes the string that is an HTTP method for the method, and the dictionary that is no URL for
  /// the header fields.
  private mutating func decodeRequestByShape(
    _ list: borrowing BinaryPropertyList, _ array: BinaryPropertyList.Elements
  ) throws(PropertyListError) {
    let methods: [ByteString] = [
      "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE",
    ]
    for position in 0..<min(array.count, 64) {
      guard let place = try list.element(position, of: array) else { return }
      switch try list.kind(of: place) {
      case .string:
        if let text = try list.text(place), methods.contains(text) { request.method = text }
      case .dictionary:
        if try list.value(forKey: .urlString, in: place) == nil {
          request.headers = try list.archivedHeaders(place)
        }
      default: break
      }
    }
  }

  /// Decodes a dictionary of properties; what is not a dictionary is one property without a name.
  static func decodeProperties(_ bytes: Span<UInt8>) throws(PropertyListError) -> [Property] {
    let list = try BinaryPropertyList(bytes)
    let value = PropertyValue(try list.value(of: list.root))
    if case .dictionary(let properties) = value { return properties }
    return [Property(key: "", value: value)]
  }
}

extension StoredResponse.PropertyValue {
  /// The value that a property list holds.
  init(_ value: PropertyListValue) {
    self =
      switch value {
      case .null: .null
      case .boolean(let value): .boolean(value)
      case .integer(let value): .integer(value)
      case .real(let value): .real(value)
      case .date(let seconds):
        Timestamp(secondsSince2001: seconds).map { .date($0) } ?? .opaque("date out of range")
      case .data(let bytes): .data(bytes)
      case .string(let bytes): .text(ByteString(bytes))
      case .array(let values): .array(values.map { Self($0) })
      case .dictionary(let entries):
        .dictionary(
          entries.map { .init(key: ByteString($0.key), value: Self($0.value)) })
      case .uid(let number): .opaque("UID \(number)")
      }
  }
}

extension BinaryPropertyList {
  /// What stands in the places of an archived message; `nil` if it is none.
  func archivedElements() throws(PropertyListError) -> Elements? {
    guard let array = try value(forKey: .array, in: root) else { return nil }
    return try elements(of: array)
  }

  /// The text of a string; `nil` for the strings that stand for nothing, and for what is no string.
  func text(_ object: Object) throws(PropertyListError) -> ByteString? {
    var memory: [UInt8] = []
    return try text(object, reusing: &memory)
  }

  /// The text of a string, in `memory` that it takes for itself.
  func text(
    _ object: Object, reusing memory: inout [UInt8]
  ) throws(PropertyListError) -> ByteString? {
    guard try copy(object, into: &memory) else { return nil }
    let isNull =
      memory.count > 20 && memory[0] == UInt8(ascii: "_")
      && (memory == nullResponseToken || memory == nullRequestToken)
    return isNull ? nil : ByteString(exchange(&memory, with: []))
  }

  /// The text of an archived URL: a dictionary of its string and the number 15, which says that the
  /// string is the whole URL.
  func archivedURL(_ object: Object) throws(PropertyListError) -> ByteString? {
    var memory: [UInt8] = []
    return try archivedURL(object, reusing: &memory)
  }

  /// The text of an archived URL, in `memory` that it takes for itself.
  func archivedURL(
    _ object: Object, reusing memory: inout [UInt8]
  ) throws(PropertyListError) -> ByteString? {
    guard let string = try value(forKey: .urlString, in: object),
      try copy(string, into: &memory)
    else { return nil }
    return ByteString(exchange(&memory, with: []))
  }

  /// Puts the text of a string into `memory`, and returns whether the object is a string.
  private func copy(_ object: Object, into memory: inout [UInt8]) throws(PropertyListError) -> Bool
  {
    guard let ascii = try ascii(object) else { return try utf8(object, into: &memory) }
    memory.replaceAll(with: ascii)
    return true
  }

  /// A copy of the bytes of a data object.
  func dataBytes(_ object: Object) throws(PropertyListError) -> [UInt8]? {
    guard let bytes = try data(object) else { return nil }
    var copy: [UInt8] = []
    copy.replaceAll(with: bytes)
    return copy
  }
}

private let nullResponseToken = Array("__CFURLResponseNullTokenString__".utf8)
private let nullRequestToken = Array("__CFURLRequestNullTokenString__".utf8)

extension PropertyListKey {
  fileprivate static let array: Self = "Array"
  fileprivate static let version: Self = "Version"
  fileprivate static let urlString: Self = "_CFURLString"
}
