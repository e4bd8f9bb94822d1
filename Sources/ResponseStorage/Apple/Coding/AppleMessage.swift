public import Bytes
public import PropertyLists

/// The property lists in which an Apple store archives a response and its request.
///
/// Both are dictionaries of a version and an array whose positions have fixed meanings; a null token
/// stands for a missing value. Source: `apple-cache.md`, "Property lists", checked against the sample stores.
public enum AppleMessage {
  /// A response, archived as the column `response_object`, version 1.
  public struct Response: Hashable, Sendable {
    /// The URL of the response, after redirects.
    public var url: ByteString

    /// When the response was stored or refreshed.
    public var stored: Timestamp

    /// The status code.
    public var status: Int64

    /// The header fields as they were received, repeated ones included.
    public var headers: HeaderFields

    /// The size of the stored body, or `nil` if it equals `Content-Length`.
    public var expectedLength: ByteCount?

    /// The media type without parameters, in lower case.
    public var mimeType: ByteString?

    /// Whether the archive ends after the header fields, as for some redirects.
    public var endsAfterHeaders: Bool

    /// Creates a response to archive.
    public init(
      url: ByteString, stored: Timestamp, status: Int64, headers: HeaderFields,
      expectedLength: ByteCount? = nil, mimeType: ByteString? = nil, endsAfterHeaders: Bool = false
    ) {
      self.url = url
      self.stored = stored
      self.status = status
      self.headers = headers
      self.expectedLength = expectedLength
      self.mimeType = mimeType
      self.endsAfterHeaders = endsAfterHeaders
    }

    /// The property list: 7 elements, or 5 if it ends after the header fields.
    public var propertyList: PropertyListValue {
      propertyList(archivedHeaders: AppleMessage.archivedHeaders(headers))
    }

    /// Returns the property list with header fields that are already archived.
    ///
    /// - Parameter archivedHeaders: The result of ``AppleMessage/archivedHeaders(_:withArrays:)`` for
    ///   `headers`.
    public func propertyList(archivedHeaders: PropertyListValue) -> PropertyListValue {
      var elements: [PropertyListValue] = [
        AppleMessage.archivedURL(url),
        .real(stored.secondsSince2001),
        .integer(0),
        // The 0 before it was the same in all responses of real caches. It is probably the
        // recommended storage policy, which CFNetwork can set for a response.
        .integer(status),
        archivedHeaders,
      ]
      if !endsAfterHeaders {
        // The length of the stored body, not of what was transferred: content codings are removed
        // before storing, but `Content-Length` in the header fields stays as it was received.
        elements.append(expectedLength.map { .integer($0.bytes) } ?? Self.nullToken)
        elements.append(mimeType.map { .string($0.bytes) } ?? Self.nullToken)
      }
      return AppleMessage.archive(version: 1, elements)
    }

    private static var nullToken: PropertyListValue { .text("__CFURLResponseNullTokenString__") }
  }

  /// A request, archived as the column `request_object`, version 9.
  public struct Request: Hashable, Sendable {
    /// The requested URL.
    public var url: ByteString

    /// The method.
    public var method: ByteString

    /// The header fields.
    public var headers: HeaderFields

    /// The raw value of `NSURLRequest.CachePolicy`.
    public var cachePolicy: Int64

    /// The time-out interval, in seconds.
    public var timeoutSeconds: Double

    /// The URL of the page that the request was made for.
    public var mainDocumentURL: ByteString?

    /// The priority, from 0 to 4, or -1 for none.
    public var priority: Int64

    /// The parts of the body.
    public var bodyParts: [[UInt8]]?

    /// Creates a request to archive.
    public init(
      url: ByteString, method: ByteString = "GET", headers: HeaderFields, cachePolicy: Int64 = 0,
      timeoutSeconds: Double = 60, mainDocumentURL: ByteString? = nil, priority: Int64 = -1,
      bodyParts: [[UInt8]]? = nil
    ) {
      self.url = url
      self.method = method
      self.headers = headers
      self.cachePolicy = cachePolicy
      self.timeoutSeconds = timeoutSeconds
      self.mainDocumentURL = mainDocumentURL
      self.priority = priority
      self.bodyParts = bodyParts
    }

    /// The property list: 22 elements.
    public var propertyList: PropertyListValue {
      propertyList(archivedHeaders: AppleMessage.archivedHeaders(headers))
    }

    /// Returns the property list with header fields that are already archived.
    ///
    /// - Parameter archivedHeaders: The result of ``AppleMessage/archivedHeaders(_:withArrays:)`` for
    ///   `headers`.
    public func propertyList(archivedHeaders: PropertyListValue) -> PropertyListValue {
      AppleMessage.archive(
        version: 9,
        [
          .boolean(false),
          AppleMessage.archivedURL(url),
          .real(timeoutSeconds),
          .integer(cachePolicy),
          mainDocumentURL.map(AppleMessage.archivedURL) ?? Self.nullToken,
          .boolean(true),
          .integer(explicitlySet),
          Self.nullToken,
          Self.nullToken,
          .boolean(true),
          .boolean(false),
          .integer(0),
          .real(0),
          .real(0),
          .integer(0),
          .integer(priority),
          Self.nullToken,
          // The meaning of this position is unknown. It is 2 in all requests of real caches that
          // may use cookies, as this one may.
          .integer(2),
          .string(method.bytes),
          archivedHeaders,
          Self.nullToken,
          bodyParts.map { .array($0.map { .data($0) }) } ?? Self.nullToken,
        ])
    }

    /// The bits of the properties that are set explicitly: 4 is the network service type, which nearly
    /// every request of the sample stores has, 128 the request policy, 256 the time-out.
    private var explicitlySet: Int64 {
      4 | (cachePolicy == 0 ? 0 : 128) | (timeoutSeconds == 60 ? 0 : 256)
    }

    private static var nullToken: PropertyListValue { .text("__CFURLRequestNullTokenString__") }
  }
}

extension AppleMessage {
  /// Returns the entry of `proto_props` with which CFNetwork matches a response that varies: the received
  /// value of `Vary`, and the nominated fields of the request that were sent.
  public static func varyRecord(
    _ vary: ByteString, of request: HeaderFields
  ) -> PropertyListValue.Entry {
    // A field that the request did not have gets no entry, so a record can be empty.
    let names = vary.bytes.split(separator: UInt8(ascii: ",")).map { name in
      ByteString(Array(name.drop { $0 == 0x20 || $0 == 0x09 }))
    }
    var sentNames = FieldNames()
    let firstFields = request.fields.filter { sentNames.insert($0.name).isNew }
    let sent = names.compactMap { name in
      sentNames.number(of: name).map { number in
        PropertyListValue.Entry(
          key: name.bytes, value: .string(firstFields[number].value.bytes))
      }
    }
    return .init(key: vary.bytes, value: .dictionary(sent))
  }

  /// Returns header fields as a dictionary that joins repeated ones, with the key `__hhaa__` ("HTTP headers
  /// as arrays") that keeps them apart.
  ///
  /// Source: `apple-cache.md`, "Property lists". All 208 values in the sample stores begin with two CRLF and have no line
  /// break at the end.
  ///
  /// - Parameter withArrays: Whether to add the key `__hhaa__`, which systems before macOS 10.13 do not
  ///   write.
  public static func archivedHeaders(
    _ headers: HeaderFields, withArrays: Bool = true
  ) -> PropertyListValue {
    var names = FieldNames()
    var fields: [(name: ByteString, values: [ByteString])] = []
    for field in headers.fields {
      let (number, isNew) = names.insert(field.name)
      if isNew {
        // CFNetwork writes this name as `Etag`.
        fields.append((field.name == "ETag" ? "Etag" : field.name, [field.value]))
      } else {
        fields[number].values.append(field.value)
      }
    }
    var arrays: [PropertyListValue.Entry] = []
    var joined: [PropertyListValue.Entry] = []
    for (name, values) in fields {
      arrays.append(.init(key: name.bytes, value: .array(values.map { .string($0.bytes) })))
      // Joining is slow, and nearly all fields occur once.
      let value =
        values.count == 1
        ? values[0].bytes : Array(values.map(\.bytes).joined(separator: [0x2C, 0x20]))
      joined.append(.init(key: name.bytes, value: .string(value)))
    }
    guard withArrays else { return .dictionary(joined) }
    let archive = PropertyListWriter().bytes(of: .dictionary(arrays))
    let text = Base64.encode(archive, after: [0x0D, 0x0A, 0x0D, 0x0A])
    joined.append(.init(key: Array("__hhaa__".utf8), value: .string(text)))
    return .dictionary(joined)
  }

  private static func archive(version: Int64, _ elements: [PropertyListValue]) -> PropertyListValue
  {
    .dictionary([
      .init(key: Array("Version".utf8), value: .integer(version)),
      .init(key: Array("Array".utf8), value: .array(elements)),
    ])
  }

  /// Returns an archived URL; the type 15 means that the string is the whole URL.
  private static func archivedURL(_ url: ByteString) -> PropertyListValue {
    .dictionary([
      // A relative URL with a base was never seen in a real cache.
      .init(key: Array("_CFURLStringType".utf8), value: .integer(15)),
      .init(key: Array("_CFURLString".utf8), value: .string(url.bytes)),
    ])
  }
}
