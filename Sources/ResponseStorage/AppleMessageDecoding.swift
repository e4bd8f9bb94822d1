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
    guard let array = try list.archivedElements() else {
      notes.append(.init(.undecodable, "response_object has no Array"))
      return
    }
    // What is damaged hides nothing else: it is not to depend on what was asked for what is known.
    var damage: PropertyListError?
    if projection.contains(.notes) {
      damage.note { () throws(PropertyListError) in
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
    if projection.contains(.stored), array.count > 1 {
      damage.note { () throws(PropertyListError) in
        stored = try list.real(1, of: array).flatMap { Timestamp(secondsSince2001: $0) }
      }
      if stored == nil {
        notes.append(.init(.badTime, "the creation time of the response is no time"))
      }
    }
    if projection.contains(.status) {
      damage.note { () throws(PropertyListError) in
        status = try list.integer(3, of: array)
        if status == nil { try noteUnlessNull(3, of: array, in: list, "status is no integer") }
      }
    }
    if !projection.isDisjoint(with: .ofResponseHeaders) {
      damage.note { () throws(PropertyListError) in
        try decodeHeaders(4, of: array, in: list, projection)
      }
    }
    if projection.contains(.mimeType) {
      damage.note { () throws(PropertyListError) in
        guard let object = try list.element(6, of: array) else { return }
        mimeType = try list.textUnlessNull(object, reusing: &memory.mimeType)
        if mimeType == nil {
          try noteUnlessNull(6, of: array, in: list, "media type is no string")
        }
      }
    }
    if let damage { throw damage }
  }

  /// Decodes the header fields of a response.
  private mutating func decodeHeaders(
    _ place: Int, of array: BinaryPropertyList.Elements, in list: borrowing BinaryPropertyList,
    _ projection: Projection
  ) throws(PropertyListError) {
    guard let fields = try list.element(place, of: array) else { return }
    var damage: PropertyListError?
    if projection.contains(.responseHeaders) {
      responseHeaders = try list.archivedHeaders(fields, &damage)
    } else if projection.contains(.cachingFields) {
      responseHeaders = try list.archivedHeaders(fields, .response, &damage)
    } else if let stored {
      freshnessFields = try list.archivedFreshnessFields(
        fields, receivedAt: stored.wholeSeconds, &damage)
    }
    if responseHeaders == nil, freshnessFields == nil {
      try noteUnlessNull(place, of: array, in: list, "header fields are no dictionary")
    }
    if let damage { throw damage }
  }

  /// Notes that what stands in a place of a message is of a wrong type, unless it stands for nothing.
  private mutating func noteUnlessNull(
    _ place: Int, of array: BinaryPropertyList.Elements, in list: borrowing BinaryPropertyList,
    _ what: String
  ) throws(PropertyListError) {
    guard let object = try list.element(place, of: array), try !list.isNull(object) else { return }
    notes.append(.init(.wrongType, "its \(what)"))
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
    guard let array = try list.archivedElements() else {
      notes.append(.init(.undecodable, "request_object has no Array"))
      return
    }
    if let string = try list.urlString(1, of: array) {
      request.url = try list.text(string)
    }
    guard let version = try list.archivedVersion(), let places = RequestPlaces(version: version)
    else {
      notes.append(.init(.unknownVersion, "request_object has an unknown version"))
      try decodeRequestByShape(list, array)
      return
    }
    var damage: PropertyListError?
    if projection.contains(.method) {
      damage.note { () throws(PropertyListError) in
        guard let object = try list.element(places.method, of: array) else { return }
        request.method = try list.textUnlessNull(object)
        if request.method == nil {
          try noteUnlessNull(places.method, of: array, in: list, "method is no string")
        }
      }
    }
    if !projection.isDisjoint(with: .ofRequestHeaders) {
      damage.note { () throws(PropertyListError) in
        guard let fields = try list.element(places.headers, of: array) else { return }
        var inner: PropertyListError?
        request.headers =
          projection.contains(.requestHeaders)
          ? try list.archivedHeaders(fields, &inner)
          : try list.archivedHeaders(fields, requestFields, &inner)
        if let inner { throw inner }
      }
    }
    if projection.contains(.requestDetails) {
      damage.note { () throws(PropertyListError) in
        request.timeoutSeconds = try list.real(2, of: array)
        request.cachePolicy = try list.integer(3, of: array)
        request.body = try list.archivedBody(places.body, places.bodyParts, of: array)
      }
    }
    if let damage { throw damage }
  }

  /// The fields of the request that caching depends on, by what is known of the response.
  private var requestFields: FieldSelection {
    guard let headers = responseHeaders else { return .request }
    var vary = FieldSection()
    // A loop over the array would hold on to each field.
    let fields = headers.fields.span
    for index in fields.indices where FieldName.vary.matches(fields[index].name.bytes) {
      let field = fields[index]
      vary.lines.append(FieldLine(name: field.name.bytes, value: field.value.bytes))
    }
    return vary.lines.isEmpty ? .request : .request.adding(Vary(vary))
  }

  /// Takes the string that is an HTTP method for the method, and the dictionary that is no URL for
  /// the header fields.
  private mutating func decodeRequestByShape(
    _ list: borrowing BinaryPropertyList, _ array: BinaryPropertyList.Elements
  ) throws(PropertyListError) {
    let methods: [ByteString] = [
      "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE",
    ]
    for place in 0..<min(array.count, 64) {
      guard let object = try list.element(place, of: array) else { return }
      switch try list.kind(of: object) {
      case .string:
        if let text = try list.text(object), methods.contains(text) {
          request.method = text
        }
      case .dictionary:
        if try list.urlString(place, of: array) == nil {
          var damage: PropertyListError?
          request.headers = try list.archivedHeaders(object, &damage)
          if let damage { throw damage }
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

extension PropertyListError? {
  /// Does a part of a decoding, and keeps the first error of all parts.
  @inline(__always)
  mutating func note(_ body: () throws(PropertyListError) -> Void) {
    do throws(PropertyListError) { try body() } catch { self = self ?? error }
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
