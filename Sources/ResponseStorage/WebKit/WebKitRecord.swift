import Bytes
import Files

/// The key of a record: what a request must equal to find it.
struct WebKitKey: Hashable {
  /// The registrable domain of the top-level site; always empty in WebKitGTK and WPE.
  let partition: ByteString?
  /// The kind of record, such as `Resource`, which is also the name of its folder.
  let type: ByteString?
  /// The URL without its fragment.
  let identifier: ByteString?
  /// The value of `Range` in the request; `nil` if it had none.
  let range: ByteString?
  /// The name of the record, as 20 bytes.
  let hash: [UInt8]
  /// The name of the folder of the partition, as 20 bytes.
  let partitionHash: [UInt8]

  init(_ decoder: inout WebKitDecoder) throws(WebKitFormatError) {
    partition = try decoder.text()
    type = try decoder.text()
    identifier = try decoder.text()
    range = try decoder.text()
    hash = Array(try decoder.data(20))
    partitionHash = Array(try decoder.data(20))
  }

  /// Returns the hash of the salt and bytes, as of a header.
  static func hash(_ bytes: ArraySlice<UInt8>, salt: [UInt8]) -> [UInt8] {
    var digest = SHA1Digest()
    digest.update(salt[...])
    digest.update(bytes)
    return digest.bytes
  }

  /// Returns the hash of the parts of a key.
  ///
  /// Up to version 16, an ASCII text is hashed with a NUL behind it, so that the empty text differs from none.
  static func hash(_ parts: [ByteString?], salt: [UInt8], version: UInt32) -> [UInt8] {
    var digest = SHA1Digest()
    digest.update(salt[...])
    for case let part? in parts {
      digest.update(part.bytes[...])
      if version <= 16, part.bytes.allSatisfy({ $0 < 0x80 }) { digest.update([0]) }
    }
    return digest.bytes
  }

  /// Whether its hashes are those of its parts.
  func isSound(salt: [UInt8], version: UInt32) -> Bool {
    Self.hash([partition], salt: salt, version: version) == partitionHash
      && Self.hash([partition, type, identifier, range], salt: salt, version: version) == hash
  }
}

/// The beginning of a record file: the key of the record, its time, and the lengths and hashes of its header and its
/// body.
///
/// Source: `NetworkCacheStorage.cpp` of WebKit, `RecordMetaData`.
struct WebKitMetadata: Hashable {
  let version: UInt32
  let key: WebKitKey
  /// When the record was stored, or refreshed by a 304, in seconds since 1970.
  let seconds: Double
  let headerHash: [UInt8]
  let headerSize: ByteCount
  let bodyHash: [UInt8]
  let bodySize: ByteCount
  /// Whether the body follows the header; otherwise it is a file of its own.
  let isBodyInline: Bool
  /// The number of bytes of this, at whose end the header begins.
  let count: Int

  /// Decodes the beginning of a record file.
  ///
  /// - Throws: ``WebKitFormatError``, also if its checksum does not match.
  init(_ bytes: ArraySlice<UInt8>) throws(WebKitFormatError) {
    var decoder = WebKitDecoder(bytes)
    version = try decoder.uint32()
    key = try WebKitKey(&decoder)
    seconds = try decoder.double()
    headerHash = Array(try decoder.data(20))
    headerSize = ByteCount(try decoder.uint64())
    bodyHash = Array(try decoder.data(20))
    bodySize = ByteCount(try decoder.uint64())
    isBodyInline = try decoder.flag()
    try decoder.checksum()
    count = decoder.position - bytes.startIndex
    // The records of the Cache API of pages have the same layout, and no time.
    if seconds == 0 { throw WebKitFormatError("it is a record of the Cache API of a page") }
  }

  /// Where the body begins, if it is in the file of the record.
  var bodyStart: ByteCount { ByteCount(count) + headerSize }

  /// When the record was stored; `nil` if the number is no time.
  var stored: Timestamp? { Timestamp(secondsSince1970: seconds) }
}

/// The header of a record of a response.
///
/// Source: `NetworkCacheEntry.cpp` and `NetworkCacheCoders.cpp` of WebKit.
struct WebKitResponse {
  /// What differs between the systems and versions. Nothing in a record says which it is, but only the right one makes
  /// the checksum match.
  struct Layout: Hashable {
    enum Certificate: Hashable, CaseIterable {
      /// The chain in DER, as WebKitGTK and WPE write it.
      case chain
      /// A serialized `SecTrust`, as Apple systems write it.
      case trust
      /// The same after the number of its kind, until version 16.
      case trustOfKind
    }

    var certificate: Certificate
    /// Whether there is an address space, since version 18.
    var hasAddressSpace: Bool

    /// Returns all layouts, those of a version first.
    static func all(for version: UInt32) -> [Layout] {
      [version >= 18, version < 18].flatMap { hasAddressSpace in
        Certificate.allCases.map { Layout(certificate: $0, hasAddressSpace: hasAddressSpace) }
      }
    }
  }

  /// The URL of the response, which may have a fragment.
  private(set) var url: ByteString?
  private(set) var mimeType: ByteString?
  private(set) var status: Int64 = 0
  /// The header fields; repeated ones are joined, and names that WebKit knows come first.
  private(set) var fields = HeaderFields()
  /// Whether the response redirects to another URL.
  private(set) var redirect: Redirect?
  /// The fields of the request that `Vary` names; `nil` for one that the request did not have.
  private(set) var varyingFields: [(name: ByteString, value: ByteString?)] = []
  /// The seconds after which a redirect is not used any more, whatever its lifetime.
  private(set) var ageCap: Double?
  /// Whether it came through iCloud Private Relay.
  private(set) var isRelayed = false

  /// The request that a redirect leads to.
  struct Redirect {
    let url: ByteString?
    let method: ByteString?
    let fields: HeaderFields
  }

  /// Decodes a header.
  ///
  /// - Parameter withFields: Whether the URL, the fields and the redirect are wanted; otherwise they are only verified.
  /// - Throws: ``WebKitFormatError`` if no layout fits.
  init(
    _ bytes: ArraySlice<UInt8>, version: UInt32, withFields: Bool = true
  ) throws(WebKitFormatError) {
    var first: WebKitFormatError?
    for layout in Layout.all(for: version) {
      do throws(WebKitFormatError) {
        self = try Self(bytes, layout, withFields)
        return
      } catch {
        first = first ?? error
      }
    }
    throw first ?? WebKitFormatError("its layout is unknown")
  }

  private init(
    _ bytes: ArraySlice<UInt8>, _ layout: Layout, _ withFields: Bool
  ) throws(WebKitFormatError) {
    var decoder = WebKitDecoder(bytes)
    decoder.skipsTexts = !withFields
    let isNull = try decoder.flag()
    if !isNull { try decodeResponse(&decoder, layout) }
    if try decoder.flag() { varyingFields = try decoder.fields() }
    let flags = try decoder.uint8()
    isRelayed = flags & 2 != 0
    if flags & 1 != 0 {
      guard try decoder.flag() else { throw WebKitFormatError("its redirect is empty") }
      redirect = try Redirect(&decoder)
    }
    if try decoder.flag() { ageCap = try decoder.double() }
    guard decoder.left == 20 else { throw WebKitFormatError("its layout is unknown") }
    try decoder.checksum()
  }

  private mutating func decodeResponse(
    _ decoder: inout WebKitDecoder, _ layout: Layout
  ) throws(WebKitFormatError) {
    url = try decoder.text()
    let skipsTexts = decoder.skipsTexts
    decoder.skipsTexts = false
    mimeType = try decoder.text()
    decoder.skipsTexts = skipsTexts
    // The length as announced, the encoding of the text, the reason phrase, and the version of HTTP.
    _ = try decoder.int64()
    for _ in 0..<3 { _ = try decoder.text() }
    fields = HeaderFields(try decoder.fields().map { .init(name: $0.name, value: $0.value ?? "") })
    status = Int64(try decoder.int16())
    if try decoder.flag() { try Self.skipCertificate(&decoder, layout.certificate) }
    // Where it came from, its type, and its tainting.
    for _ in 0..<3 { _ = try decoder.uint64() }
    // Whether it came at the end of a redirect.
    _ = try decoder.flag()
    // Whether an old version of TLS and Private Relay were used.
    for _ in 0..<2 { _ = try decoder.uint64() }
    // Whether a range was requested.
    _ = try decoder.flag()
    if layout.hasAddressSpace { _ = try decoder.uint64() }
  }

  private static func skipCertificate(
    _ decoder: inout WebKitDecoder, _ form: Layout.Certificate
  ) throws(WebKitFormatError) {
    switch form {
    case .chain:
      let count = try decoder.count(ofAtLeast: 4)
      for _ in 0..<count { _ = try decoder.data(Int(try decoder.uint32())) }
      if count > 0 { _ = try decoder.uint32() }
      return
    case .trustOfKind:
      guard try decoder.uint64() == 2 else {
        throw WebKitFormatError("its certificate is of an unknown kind")
      }
    case .trust: break
    }
    guard try decoder.flag() else { return }
    try decoder.skipLongData()
  }
}

extension WebKitResponse.Redirect {
  fileprivate init(_ decoder: inout WebKitDecoder) throws(WebKitFormatError) {
    url = try decoder.text()
    // Its time-out, and the site of the page.
    _ = try decoder.double()
    _ = try decoder.text()
    method = try decoder.text()
    fields = HeaderFields(try decoder.fields().map { .init(name: $0.name, value: $0.value ?? "") })
    for _ in 0..<(try decoder.count(ofAtLeast: 4)) { _ = try decoder.text() }
    // Its cache policy, whether cookies are allowed, its site, whether it is the page, its priority, who asked for it,
    // and whether the app did.
    _ = try decoder.uint64()
    _ = try decoder.flag()
    _ = try decoder.uint64()
    _ = try decoder.flag()
    for _ in 0..<2 { _ = try decoder.uint64() }
    _ = try decoder.flag()
  }
}

/// The resources that a page loaded last time, by which WebKit asks for them early: not a response.
struct WebKitSubresources {
  /// A resource.
  struct Resource {
    let key: WebKitKey
    /// The URL of the page; `nil` for a resource that was seen once.
    let page: ByteString?
    /// The header fields of its request, such as `Referer` and `User-Agent`.
    let fields: HeaderFields
  }

  let resources: [Resource]

  /// Decodes the header of a record of type `SubResources`.
  init(_ bytes: ArraySlice<UInt8>) throws(WebKitFormatError) {
    var decoder = WebKitDecoder(bytes)
    var resources: [Resource] = []
    for _ in 0..<(try decoder.count(ofAtLeast: 60)) {
      let key = try WebKitKey(&decoder)
      // When it was seen last, and first.
      for _ in 0..<2 { _ = try decoder.double() }
      if try decoder.flag() {
        resources.append(Resource(key: key, page: nil, fields: HeaderFields()))
        continue
      }
      // Whether it is of the same site, and whether the app asked for it.
      for _ in 0..<2 { _ = try decoder.flag() }
      let page = try decoder.text()
      let fields = try decoder.fields().map {
        HeaderFields.Field(name: $0.name, value: $0.value ?? "")
      }
      _ = try decoder.uint64()
      resources.append(Resource(key: key, page: page, fields: HeaderFields(fields)))
    }
    guard decoder.left == 20 else { throw WebKitFormatError("its layout is unknown") }
    try decoder.checksum()
    self.resources = resources
  }
}
