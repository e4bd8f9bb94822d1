public import Bytes
internal import PropertyLists

/// What a Foundation store archives of a stored response: an instance of `StoredCachedURLResponse`.
///
/// Source: `URLCache.swift` and `URLResponse.swift` of swift-corelibs-foundation; `formats.md`.
public struct FoundationArchive: Hashable, Sendable {
  /// The URL of the response, after redirects.
  public var url: ByteString

  /// The status code; `nil` for a response of another protocol than HTTP.
  public var status: Int64?

  /// The header fields; repeated ones are joined, as Foundation does.
  public var headers: HeaderFields

  /// The media type without parameters.
  public var mimeType: ByteString?

  /// The body.
  public var body: [UInt8]?

  /// The storage policy; Foundation stores nothing on disk that is not `allowed`.
  public var storagePolicy = StoredResponse.StoragePolicy.allowed

  /// What the application attached to the response. Foundation cannot read again what has an array or
  /// null in it.
  public var userInfo: [StoredResponse.Property] = []

  /// When the application made the response that it stored, which Foundation counts its age from.
  public var created: Timestamp

  /// Creates an archive of a response of HTTP.
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

  /// The bytes of the archive; the same archive always gives the same.
  public var bytes: [UInt8] {
    var writer = KeyedArchiveWriter()
    let root = add(to: &writer)
    return writer.bytes(root: root)
  }

  /// What stands before and after the bytes of a body that is not in memory.
  ///
  /// - Parameter bodySize: How many bytes it has.
  func parts(bodySize: ByteCount) -> (before: [UInt8], after: [UInt8]) {
    var writer = KeyedArchiveWriter()
    var archive = self
    archive.body = []
    let root = archive.add(to: &writer)
    return writer.parts(root: root, dataSize: bodySize.bytes)
  }

  /// Adds the archive, of whose data objects the body is the first, and returns the reference to it.
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
        "NS.textEncodingName": KeyedArchiveWriter.null, "NS.suggestedFilename": fileName,
        "NS.statusCode": .integer(status), "NS.allHeaderFields": headers,
      ])
  }

  /// Adds a value of the user info as an object of Foundation's.
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

  /// The header fields, each name once, with the values of repeated ones joined.
  private var joinedHeaders: [HeaderFields.Field] {
    var places: [ByteString: Int] = [:]
    var fields: [HeaderFields.Field] = []
    for field in headers.fields {
      if let place = places[field.name.asciiLowercased] {
        fields[place].value.bytes += Array(", ".utf8) + field.value.bytes
      } else {
        places[field.name.asciiLowercased] = fields.count
        fields.append(.init(name: Self.capitalized(field.name), value: field.value))
      }
    }
    return fields
  }

  /// The name of a header field as Foundation writes it: `Etag`, but `X-ID` as it is.
  private static func capitalized(_ name: ByteString) -> ByteString {
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

  /// What `Content-Length` says, or -1.
  private var expectedLength: Int64 {
    headers.firstValue(named: "content-length")?.string.flatMap { Int64($0) } ?? -1
  }

  /// The last part of the URL's path, or Foundation's word for none.
  private var suggestedFileName: ByteString {
    let name = URLParts(url.bytes).path.split(separator: UInt8(ascii: "/")).last
    return name.map { ByteString(Array($0)) } ?? "Unknown"
  }
}
