import Bytes
import HTTPCaching
import PropertyLists

/// Decoding of archived requests, which are like responses, with positions that depend on the version.
extension StoredResponse {
  /// The positions of values in a `request_object` of one version.
  private struct RequestPlaces {
    let method: Int
    let headers: Int
    let body: Int
    let bodyParts: Int?

    // Fixed positions are wrong for older systems: the forensic tool mac_apt uses 18 and 19 for all
    // versions, and fails on caches of OS X 10.9.
    init?(version: Int64) {
      switch version {
      case 3: (method, headers, body, bodyParts) = (12, 13, 14, nil)
      case 4: (method, headers, body, bodyParts) = (13, 14, 15, nil)
      case 9: (method, headers, body, bodyParts) = (18, 19, 20, 21)
      default: return nil
      }
    }
  }

  /// Decodes the parts of a `request_object` in `projection`. For versions other than 3, 4 and 9, it
  /// recognizes the method and the header fields by their types.
  mutating func decodeRequestObject(
    _ bytes: Span<UInt8>, _ projection: Projection, reusing memory: inout SpareMemory
  ) throws(PropertyListError) {
    let list = try BinaryPropertyList(bytes)
    guard let array = try list.archivedElements() else {
      notes.append(.init(.undecodable, "request_object has no Array"))
      return
    }
    if let string = try list.urlString(1, of: array) {
      request.url = try list.text(string, reusing: &memory.requestURL)
    }
    guard let version = try list.archivedVersion(), let places = RequestPlaces(version: version)
    else {
      notes.append(.init(.unknownVersion, "request_object has an unknown version"))
      defer { if projection.contains(.notes) { noteRequestUnlessUTF8() } }
      try decodeRequestByShape(list, array)
      return
    }
    var damage: PropertyListError?
    if projection.contains(.method) {
      damage.note { () throws(PropertyListError) in
        guard let object = try list.element(places.method, of: array) else { return }
        request.method = try list.textUnlessNull(object, reusing: &memory.method)
        if request.method == nil {
          try noteUnlessNull(places.method, of: array, in: list, "method is not a string")
        }
      }
    }
    if !projection.isDisjoint(with: .ofRequestHeaders) {
      damage.note { () throws(PropertyListError) in
        guard let fields = try list.element(places.headers, of: array) else { return }
        var needsAll = !projection.isDisjoint(with: [.requestHeaders, .screenedFields])
        if projection.screensFields {
          var screen = FieldScreen(ofRequest: ())
          switch screen.read(fields, in: list) {
          case .plain: return request.headers = HeaderFields()
          case .remarkable: needsAll = false
          case .unclear: needsAll = true
          }
        }
        var inner: PropertyListError?
        request.headers =
          needsAll
          ? try list.archivedHeaders(fields, &inner)
          : try list.archivedHeaders(fields, requestFields, &inner)
        if let inner { throw inner }
      }
    }
    if projection.contains(.requestDetails) {
      damage.note { () throws(PropertyListError) in
        // These two have the same position in all known versions.
        request.timeoutSeconds = try list.real(2, of: array)
        request.cachePolicy = try list.integer(3, of: array)
        request.body = try list.archivedBody(places.body, places.bodyParts, of: array)
      }
    }
    if projection.contains(.notes) { noteRequestUnlessUTF8() }
    if let damage { throw damage }
  }

  /// The fields of the request that caching depends on, given the header fields of the response.
  private var requestFields: FieldSelection {
    guard let headers = responseHeaders else { return .request }
    var vary = FieldSection()
    // Iterating over the array would retain and release each field.
    let fields = headers.fields.span
    for index in fields.indices where FieldName.vary.matches(fields[index].name.bytes) {
      let field = fields[index]
      vary.lines.append(FieldLine(name: field.name.bytes, value: field.value.bytes))
    }
    // A response that varies by `Accept-Language` matches a request only if that field is known, so
    // the selection depends on the response and is made for each.
    return vary.lines.isEmpty ? .request : .request.adding(Vary(vary))
  }

  /// Takes a string that is an HTTP method as the method, and a dictionary that is not a URL as the
  /// header fields.
  private mutating func decodeRequestByShape(
    _ list: borrowing BinaryPropertyList, _ array: BinaryPropertyList.Elements
  ) throws(PropertyListError) {
    let methods: [ByteString] = [
      "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE",
    ]
    // Known versions have up to 22 elements; the limit keeps a hostile array from taking long.
    for place in 0..<min(array.count, 64) {
      guard let object = try list.element(place, of: array) else { return }
      switch try list.kind(of: object) {
      case .string:
        // Only well-known methods: other strings in the array are URLs and null tokens.
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
}

extension Projection {
  /// What needs the `request_object`.
  static let ofRequestObject: Self = [.method, .ofRequestHeaders, .requestDetails, .notes]
}
