public import Bytes
internal import PropertyLists

/// The archive of a stored response in a Foundation store: an instance of `StoredCachedURLResponse`.
///
/// Source: `URLCache.swift` and `URLResponse.swift` of swift-corelibs-foundation; `foundation-cache.md`.
public struct FoundationArchive: Hashable, Sendable {
  /// The URL of the response, after redirects.
  public var url: ByteString

  /// The status code; `nil` for a response of a protocol other than HTTP.
  public var status: Int64?

  /// The header fields; repeated fields are joined, as Foundation does.
  public var headers: HeaderFields

  /// The media type without parameters.
  public var mimeType: ByteString?

  /// The body.
  public var body: [UInt8]?

  /// The storage policy; Foundation stores only `allowed` responses on disk.
  public var storagePolicy = StoredResponse.StoragePolicy.allowed

  /// The user info that the app attached to the response. Foundation cannot read it back if it contains an
  /// array or null.
  public var userInfo: [StoredResponse.Property] = []

  /// When the app created the response that it stored; Foundation counts its age from this time.
  public var created: Timestamp

  /// Creates an archive of an HTTP response.
  public init(
    url: ByteString, status: Int64?, headers: HeaderFields, mimeType: ByteString?, body: [UInt8]?,
    created: Timestamp
  ) {
    self.url = url
    self.status = status
    self.headers = headers
    self.mimeType = mimeType
    self.body = body
    self.created = created
  }

  /// The bytes of the archive, which are deterministic.
  // NSKeyedArchiver writes dictionaries in another order in each process. Fixed bytes make archives
  // and tests comparable, and Foundation reads any order.
  public var bytes: [UInt8] {
    var writer = KeyedArchiveWriter()
    let root = add(to: &writer)
    return writer.bytes(root: root)
  }

  /// Returns the bytes before and after a body that is not in memory.
  ///
  /// - Parameter bodySize: The size of the body.
  func parts(bodySize: ByteCount) -> (before: [UInt8], after: [UInt8]) {
    var writer = KeyedArchiveWriter()
    var archive = self
    // Only the place of the body is needed, which depends on its size and not on its bytes.
    archive.body = []
    let root = archive.add(to: &writer)
    return writer.parts(root: root, dataSize: bodySize.bytes)
  }

  /// Adds the archive and returns the reference to it. The body is the first data object.
  private func add(to writer: inout KeyedArchiveWriter) -> PropertyListValue {
    let response = Self.add(response: self, to: &writer)
    let data = body.map { writer.add(.data($0)) } ?? KeyedArchiveWriter.null
    let userInfo =
      userInfo.isEmpty ? KeyedArchiveWriter.null : Self.add(.dictionary(userInfo), to: &writer)
    let date = writer.add(date: created.secondsSince2001)
    return writer.add(
      instanceOf: ["FoundationNetworking.StoredCachedURLResponse", "NSObject"],
      [
        "response": response, "data": data, "storagePolicy": .integer(storagePolicy.number),
        "userInfo": userInfo, "date": date,
      ])
  }

  private static func add(
    response archive: FoundationArchive, to writer: inout KeyedArchiveWriter
  ) -> PropertyListValue {
    func add(_ text: ByteString?) -> PropertyListValue {
      text.map { writer.add(.string($0.bytes)) } ?? KeyedArchiveWriter.null
    }
    let url = writer.add(url: archive.url.bytes)
    let mimeType = add(archive.mimeType)
    let fileName = add(archive.suggestedFileName)
    guard let status = archive.status else {
      return writer.add(
        instanceOf: ["NSURLResponse", "NSObject"],
        [
          "NS.url": url, "NS.mimeType": mimeType, "NS.expectedContentLength": .integer(-1),
          "NS.textEncodingName": KeyedArchiveWriter.null, "NS.suggestedFilename": fileName,
        ])
    }
    let fields = archive.joinedHeaders.map { field in
      (key: writer.add(.string(field.name.bytes)), value: writer.add(.string(field.value.bytes)))
    }
    let headers = writer.add(dictionary: fields)
    return writer.add(
      instanceOf: ["NSHTTPURLResponse", "NSURLResponse", "NSObject"],
      [
        "NS.url": url, "NS.mimeType": mimeType,
        "NS.expectedContentLength": .integer(archive.expectedLength),
        // For an HTTP response, Foundation ignores these values and derives them from the header
        // fields again.
        "NS.textEncodingName": KeyedArchiveWriter.null, "NS.suggestedFilename": fileName,
        "NS.statusCode": .integer(status), "NS.allHeaderFields": headers,
      ])
  }

  /// Adds a value of the user info as a Foundation object.
  private static func add(
    _ value: StoredResponse.PropertyValue, to writer: inout KeyedArchiveWriter
  ) -> PropertyListValue {
    switch value {
    case .null: return writer.add(instanceOf: ["NSNull", "NSObject"], [:])
    case .boolean(let value): return writer.add(.boolean(value))
    case .integer(let value): return writer.add(.integer(value))
    case .real(let value): return writer.add(.real(value))
    case .date(let time): return writer.add(date: time.secondsSince2001)
    case .data(let bytes): return writer.add(.data(bytes))
    case .text(let text): return writer.add(.string(text.bytes))
    case .opaque(let name): return writer.add(instanceOf: [name, "NSObject"], [:])
    case .array(let values):
      let elements = values.map { add($0, to: &writer) }
      return writer.add(instanceOf: ["NSArray", "NSObject"], ["NS.objects": .array(elements)])
    case .dictionary(let properties):
      return writer.add(
        dictionary: properties.map { property in
          (writer.add(.string(property.key.bytes)), add(property.value, to: &writer))
        })
    }
  }

  /// The header fields with unique names; the values of repeated fields are joined.
  private var joinedHeaders: [HeaderFields.Field] {
    var names = FieldNames()
    var fields: [HeaderFields.Field] = []
    for field in headers.fields {
      // Foundation keeps one value for each name, and picks any if two names differ by case only.
      let (number, isNew) = names.insert(field.name)
      if isNew {
        fields.append(.init(name: Self.capitalized(field.name), value: field.value))
      } else {
        fields[number].value.bytes += Array(", ".utf8) + field.value.bytes
      }
    }
    return fields
  }

  /// Returns the name of a header field as Foundation writes it: `Etag`, but `X-ID` unchanged.
  private static func capitalized(_ name: ByteString) -> ByteString {
    // This is what `HTTPURLResponse` does to names when a response is created: `ETag` becomes
    // `Etag`, `DNT` becomes `Dnt`, and names with `x-` and `WWW-Authenticate` are kept.
    if name.asciiLowercased.bytes.starts(with: Array("x-".utf8)) { return name }
    if name.equalsIgnoringASCIICase("www-authenticate") { return "WWW-Authenticate" }
    var isInWord = false
    return ByteString(
      name.asciiLowercased.bytes.map { byte in
        let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        defer { isInWord = isLetter }
        return isLetter && !isInWord ? byte & ~0x20 : byte
      })
  }

  /// The value of `Content-Length`, or -1.
  private var expectedLength: Int64 {
    headers.firstValue(named: "content-length")?.string.flatMap { Int64($0) } ?? -1
  }

  /// The last component of the URL's path, or the name that Foundation uses if there is none.
  private var suggestedFileName: ByteString {
    let name = URLParts(url.bytes).path.split(separator: UInt8(ascii: "/")).last
    return name.map { ByteString(Array($0)) } ?? "Unknown"
  }
}
