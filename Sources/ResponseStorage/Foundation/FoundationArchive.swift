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

/// Decoding of responses archived by swift-corelibs-foundation: an instance of `StoredCachedURLResponse`
/// contains the response, the body, the storage policy, the user info and a date.
extension StoredResponse {
  /// Decodes the parts of an archive in `projection`; a part that cannot be decoded gets a note.
  mutating func decodeArchive(_ archive: borrowing KeyedArchive, _ projection: Projection) {
    let root = archive.root
    let projection =
      projection.contains(.notes) ? projection.union(.examinedForNotes) : projection
    decode("response", from: root, of: archive) {
      (response, part, archive) throws(PropertyListError) in
      response.decodeResponse(part, of: archive, projection)
    }
    if projection.contains(.storage) {
      decode("storagePolicy", from: root, of: archive) {
        (response, part, archive) throws(PropertyListError) in
        response.storagePolicy = try archive.integer(part).map { StoragePolicy(stored: $0) }
      }
    }
    if projection.contains(.body) {
      decode("data", from: root, of: archive) {
        (response, part, archive) throws(PropertyListError) in
        guard let size = try archive.dataCount(part) else { return }
        response.bodySize = ByteCount(size)
        response.bodyLocation = .inline
      }
      // The location stays unknown: the entry is undecodable, and not only its body is missing.
      if bodyLocation == nil {
        notes.append(.init(.undecodable, "the archive has no body"))
      }
    }
    if projection.contains(.userInfo) {
      decode("userInfo", from: root, of: archive) {
        (response, part, archive) throws(PropertyListError) in
        response.userInfo = Property.list(
          from: try archive.value(of: part) { Self.joined($0).bytes })
      }
    }
    guard projection.contains(.notes) else { return }
    noteResponseUnlessUTF8()
    // Such an entry looks like any other here, but every lookup of it ends the app.
    if let crash = FoundationCrash.find(in: archive) {
      notes.append(
        .init(
          .fatalToFoundation, "Foundation may crash when it reads this entry: \(crash.rawValue)"))
    }
  }

  /// Decodes a member of an instance, if there is one.
  private mutating func decode(
    _ name: PropertyListKey, from instance: KeyedArchive.Object, of archive: borrowing KeyedArchive,
    _ body: (inout Self, KeyedArchive.Object, borrowing KeyedArchive) throws(PropertyListError) ->
      Void
  ) {
    do throws(PropertyListError) {
      guard let part = try archive.member(name, of: instance) else { return }
      try body(&self, part, archive)
    } catch {
      notes.append(.init(.undecodable, "\(name) cannot be decoded: \(error)"))
    }
  }

  /// Decodes an instance of `NSURLResponse` or `NSHTTPURLResponse`, each member independently.
  private mutating func decodeResponse(
    _ instance: KeyedArchive.Object, of archive: borrowing KeyedArchive, _ projection: Projection
  ) {
    if projection.contains(.url) {
      let noteCount = notes.count
      decode("NS.url", from: instance, of: archive) {
        (response, part, archive) throws(PropertyListError) in
        response.url = try archive.url(part).map { Self.joined($0) }
      }
      if url == nil, notes.count == noteCount {
        notes.append(.init(.undecodable, "the archive has no URL"))
      }
    }
    if projection.contains(.status) {
      decode("NS.statusCode", from: instance, of: archive) {
        (response, part, archive) throws(PropertyListError) in
        response.status = try archive.integer(part)
        if response.status == nil {
          response.notes.append(.init(.undecodable, "NS.statusCode is not an integer"))
        }
      }
    }
    if projection.contains(.mimeType) {
      decode("NS.mimeType", from: instance, of: archive) {
        (response, part, archive) throws(PropertyListError) in
        response.mimeType = try archive.text(part).map { ByteString($0) }
      }
    }
    if !projection.isDisjoint(with: .ofResponseHeaders) {
      decode("NS.allHeaderFields", from: instance, of: archive) {
        (response, part, archive) throws(PropertyListError) in
        response.responseHeaders = HeaderFields(
          try archive.textEntries(of: part).map { entry in
            .init(name: ByteString(entry.key), value: ByteString(entry.value))
          })
      }
    }
  }

  /// Returns the URL for a list of texts, each of which may be relative to the next one.
  fileprivate static func joined(_ texts: [[UInt8]]) -> ByteString {
    guard texts.count > 1, let last = texts.last else { return ByteString(texts.first ?? []) }
    // A base of a base is possible: `NSURL` archives each URL with its own base.
    let url = texts.dropLast().reversed().reduce(URLReference(last)) { base, text in
      URLReference(text).resolved(against: base)
    }
    return ByteString(url.text)
  }
}
