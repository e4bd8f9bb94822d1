import Bytes
import Files
import ResponseStorage

/// Makes a WebKit cache of version 17, as WebKitGTK writes it: one file for each response, and one for the list of what
/// a page loaded.
struct WebKitStoreMaker {
  /// The longest body that is in the file of the record: a page of memory.
  private static let longestInline = 4_096
  private static let version: UInt32 = 17
  /// The number of resources in a list.
  private static let listed = 3
  private static let userAgent: ByteString =
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/605.1.15 (KHTML, like Gecko) Safari/605.1.15"

  /// The folder of the version.
  private let root: String
  /// No record is stored later.
  private let newest: Double
  private let salt: [UInt8]
  private let faults: FaultPlan
  /// The URLs of the last responses, which a page lists as what it loaded.
  private var latest: [ByteString] = []

  /// Creates an empty cache.
  ///
  /// - Throws: `FileError`, also if the folder has one already.
  init(
    creating directory: String, newest: Timestamp, faults: FaultPlan,
    using generator: inout SplitMix64
  ) throws(FileError) {
    self.newest = newest.secondsSince1970
    root = "\(directory)/Version \(Self.version)"
    let number = generator.next()
    salt = (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
    self.faults = faults
    try Directory.createWithParents(directory, isPrivate: false)
    for folder in [root, "\(root)/Records", "\(root)/Blobs"] { try Directory.create(folder) }
    try OpenFile(creating: "\(root)/salt").write(salt)
  }

  /// Stores a response, and for a page the list of what it loaded.
  mutating func insert(_ sample: SampleResponse) throws(FileError) {
    let url = Self.identifier(of: sample.url.url)
    let partition = ByteString(sample.url.partition ?? "")
    try insert(sample, url, partition)
    if sample.exchange.kind.mimeType == "text/html", !latest.isEmpty {
      let key = WebKitRecordKey(partition: partition, type: "SubResources", url: url, salt: salt)
      // WebKit writes it some seconds after the page.
      let seconds = min(sample.stored.secondsSince1970 + 5, newest)
      try write(key, header: list(of: url, partition, at: seconds), [], seconds)
    }
    latest = latest.suffix(Self.listed - 1) + [url]
  }

  private func insert(
    _ sample: SampleResponse, _ url: ByteString, _ partition: ByteString
  ) throws(FileError) {
    let key = WebKitRecordKey(partition: partition, type: "Resource", url: url, salt: salt)
    // The body of a redirect is not kept.
    let body = sample.exchange.location == nil ? sample.exchange.body : []
    let seconds = sample.stored.secondsSince1970
    let isMissing = faults.includes(.missingBodies, in: sample)
    let isInline = body.count <= Self.longestInline && !isMissing
    if !isInline, !isMissing { try writeBody(body, of: key, seconds) }
    let header = Self.header(of: sample, url)
    try write(key, header: header, body, seconds, isInline: isInline) {
      faults.damaged($0, of: sample)
    }
  }

  /// Writes a body into `Blobs`, unless an equal one is there, and links it to its record.
  private func writeBody(
    _ body: [UInt8], of key: WebKitRecordKey, _ seconds: Double
  ) throws(FileError) {
    let name = Self.name(of: WebKitRecordKey.hash(salt, body))
    let folder = try Directory("\(root)/Blobs")
    if (try? folder.status(of: name)) == nil {
      try Self.write(body, to: "\(root)/Blobs/\(name)", seconds)
    }
    try folder.link(
      Array(name.utf8), to: Array("\(Self.name(of: key.hash))-blob".utf8), in: self.folder(of: key))
  }

  private func write(
    _ key: WebKitRecordKey, header: [UInt8], _ body: [UInt8], _ seconds: Double,
    isInline: Bool = true, damaging: ([UInt8]) -> [UInt8] = { $0 }
  ) throws(FileError) {
    var encoder = WebKitEncoder()
    encoder.uint32(Self.version)
    key.write(to: &encoder)
    encoder.double(seconds)
    encoder.data(WebKitRecordKey.hash(salt, header))
    encoder.uint64(UInt64(header.count))
    encoder.data(WebKitRecordKey.hash(salt, body))
    encoder.uint64(UInt64(body.count))
    encoder.flag(isInline)
    let record = encoder.checked + header + (isInline ? body : [])
    let path = try folder(of: key).path(of: Self.name(of: key.hash))
    try Self.write(damaging(record), to: path, seconds)
  }

  /// Leaves files behind: bodies without a record, and a body in `Blobs` without another name.
  func insertOrphan(_ bytes: [UInt8], number: UInt64, at seconds: Double) throws(FileError) {
    let url = ByteString("https://gone.example/\(number)")
    let key = WebKitRecordKey(partition: "", type: "Resource", url: url, salt: salt)
    if number.isMultiple(of: 2) { return try writeBody(bytes, of: key, seconds) }
    let name = Self.name(of: WebKitRecordKey.hash(salt, bytes))
    try Self.write(bytes, to: "\(root)/Blobs/\(name)", seconds)
  }

  /// Opens the folder of a record, and creates it if it does not exist.
  private func folder(of key: WebKitRecordKey) throws(FileError) -> Directory {
    let partition = "\(root)/Records/\(Self.name(of: key.partitionHash))"
    let folder = "\(partition)/\(String(decoding: key.type.bytes, as: UTF8.self))"
    try Directory.createWithParents(folder, isPrivate: false)
    return try Directory(folder)
  }

  /// Writes a file whose time is that of its last use, which is the time it was stored here.
  private static func write(
    _ bytes: [UInt8], to path: String, _ seconds: Double
  ) throws(FileError) {
    let file = try OpenFile(creating: path)
    try file.write(bytes)
    try file.setModified(Int64(seconds) * 1_000_000_000)
  }

  private static func name(of hash: [UInt8]) -> String {
    String(decoding: Base16.encode(hash, .capital), as: UTF8.self)
  }

  /// The URL in the key, without its fragment.
  private static func identifier(of url: String) -> ByteString {
    ByteString(Array(url.utf8.prefix { $0 != UInt8(ascii: "#") }))
  }
}

// The headers of records.
extension WebKitStoreMaker {
  private static func header(of sample: SampleResponse, _ url: ByteString) -> [UInt8] {
    let (exchange, fields) = (sample.exchange, joined(sample.headers.fields))
    var encoder = WebKitEncoder()
    encoder.flag(false)
    encoder.text(ByteString(sample.url.url))
    encoder.text(ByteString(exchange.kind.mimeType))
    // The length that was announced; 0 if it is not known.
    encoder.int64(Int64(sample.headers.isCompressed ? 0 : exchange.body.count))
    // The encoding of the text, the reason phrase, and the version of HTTP.
    for text: ByteString in ["", reason(of: exchange.status), "HTTP/1.1"] { encoder.text(text) }
    encoder.fields(fields)
    encoder.int16(Int16(exchange.status))
    // A certificate.
    encoder.flag(false)
    // Loaded from the network, of the default type, without tainting.
    for value: UInt64 in [1, 2, 0] { encoder.uint64(value) }
    // Whether it came at the end of a redirect.
    encoder.flag(false)
    // Old TLS, and Private Relay.
    for _ in 0..<2 { encoder.uint64(0) }
    // Whether a range was requested.
    encoder.flag(false)
    let varying = varyingFields(of: sample)
    encoder.flag(!varying.isEmpty)
    if !varying.isEmpty { encoder.fields(varying) }
    encoder.uint8(exchange.location == nil ? 0 : 1)
    if let location = exchange.location {
      encoder.flag(true)
      encodeRedirect(to: ByteString(location), from: url, &encoder)
    }
    // The age after which a redirect is not used.
    encoder.flag(false)
    return encoder.checked
  }

  /// The request that a redirect leads to.
  private static func encodeRedirect(
    to location: ByteString, from url: ByteString, _ encoder: inout WebKitEncoder
  ) {
    encoder.text(location)
    // The time-out, the site of the page, and the method.
    encoder.double(0)
    encoder.text(url)
    encoder.text("GET")
    encoder.fields([("Referer", url), ("User-Agent", userAgent)])
    // The encodings to fall back to.
    encoder.uint64(0)
    // The cache policy, cookies, the site, whether it is the page, its priority, who asked, and whether the app did.
    encoder.uint64(0)
    encoder.flag(true)
    encoder.uint64(1)
    encoder.flag(false)
    for value: UInt64 in [2, 0] { encoder.uint64(value) }
    encoder.flag(true)
  }

  /// The header of the list of what a page loaded.
  private func list(
    of page: ByteString, _ partition: ByteString, at seconds: Double
  ) -> [UInt8] {
    var encoder = WebKitEncoder()
    encoder.uint64(UInt64(latest.count))
    for url in latest {
      WebKitRecordKey(partition: partition, type: "Resource", url: url, salt: salt)
        .write(to: &encoder)
      // When it was seen last, and first.
      for _ in 0..<2 { encoder.double(seconds - 4) }
      // Whether it was seen once only, is of the same site, and was asked for by the app.
      for flag in [false, true, true] { encoder.flag(flag) }
      encoder.text(page)
      encoder.fields([("Referer", page), ("User-Agent", Self.userAgent)])
      // The priority.
      encoder.uint64(2)
    }
    return encoder.checked
  }

  /// Returns the fields as WebKit keeps them: one value for each name.
  private static func joined(
    _ fields: [HeaderFields.Field]
  ) -> [(name: ByteString, value: ByteString?)] {
    var joined: [(name: ByteString, value: ByteString?)] = []
    for field in fields {
      guard let place = joined.firstIndex(where: { $0.name == field.name }) else {
        joined.append((field.name, field.value))
        continue
      }
      let before = joined[place].value?.bytes ?? []
      joined[place].value = ByteString(before + Array(", ".utf8) + field.value.bytes)
    }
    return joined
  }

  /// Returns the fields of the request that `Vary` names. WebKit itself does not know what the system adds.
  private static func varyingFields(
    of sample: SampleResponse
  ) -> [(name: ByteString, value: ByteString?)] {
    guard let vary = sample.headers.vary, vary != "*" else { return [] }
    return vary.bytes.split(separator: UInt8(ascii: ",")).map { part in
      let name = ByteString(part.filter { $0 != UInt8(ascii: " ") })
      let isAdded = ["accept-encoding", "accept-language"].contains(name.asciiLowercased)
      let sent = sample.sent.fields.fields.first {
        $0.name.asciiLowercased == name.asciiLowercased
      }
      return (name, isAdded ? nil : sent?.value)
    }
  }

  private static func reason(of status: Int64) -> ByteString {
    switch status {
    case 200: "OK"
    case 301: "Moved Permanently"
    case 404: "Not Found"
    default: ""
    }
  }
}
