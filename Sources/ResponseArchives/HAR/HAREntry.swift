import Bytes
import JSON
import ResponseStorage

/// The parts of a HAR entry that a cache can use.
///
/// A member of the wrong type counts as absent, since many programs write invalid HAR files.
struct HAREntry {
  /// The time at which the request started.
  var started: Timestamp?
  /// The duration of the exchange, in milliseconds.
  var milliseconds: Double?
  /// The method of the request.
  var method: ByteString?
  /// The requested URL.
  var url: ByteString?
  /// The header fields of the request.
  var requestHeaders = HeaderFields()
  /// The body of the request.
  var requestBody: [UInt8]?
  /// The status code of the response.
  var status: Int64?
  /// The header fields of the response.
  var headers = HeaderFields()
  /// The media type with its parameters.
  var contentType: ByteString?
  /// The body of the response.
  var content: HARContent?
  /// The name of the file with the body, as Playwright writes it.
  var contentFile: ByteString?
  /// The name of the file with the body of the request.
  var requestBodyFile: ByteString?
  /// The cache fields that this program writes.
  var extras = Extras()

  /// The fields of an entry that HAR has no place for.
  struct Extras {
    var firstStored: Timestamp?
    var partition: ByteString?
    var requestURL: ByteString?
    var storagePolicy: Int64?
  }

  /// Whether the method is GET, which is the default.
  var isGET: Bool { method.map { $0.asciiLowercased == "get" } ?? true }

  /// The ``finding`` for an entry with a partial body.
  static let isPart = "it has only part of a body"

  /// The ``finding`` for an entry whose body is in a file that is not there.
  static let lacksFile = "the file with its body is missing"

  /// The findings that mean that a body was lost.
  static let losses = [isPart, lacksFile]

  /// Uses the bodies in files, unless the HAR has them itself.
  ///
  /// - Throws: ``ResponseArchiveError`` if the body of the request exceeds the limit of an entry.
  mutating func attach(_ attachments: HARAttachments, _ budget: HARBudget) throws {
    if requestBody == nil, let name = requestBodyFile, attachments.size(name) != nil {
      var reader = try attachments.open(name)
      var body: [UInt8] = []
      // Not by its size: the file can grow.
      try reader.forEachChunk {
        try budget.spend($0.count)
        body += $0
      }
      requestBody = body
    }
    guard content == nil, let contentFile else { return }
    content = attachments.size(contentFile).map { HARContent(file: contentFile, size: $0) }
  }

  /// Why a cache cannot store the entry: a clause, or `nil` if it can.
  var finding: String? {
    guard let url else { return "it has no URL" }
    let start = url.asciiLowercased.bytes
    guard start.starts(with: "http://".utf8) || start.starts(with: "https://".utf8) else {
      return "its URL is not an HTTP URL"
    }
    switch status ?? 0 {
    // Browsers write status 0 for requests that were blocked, cancelled or failed.
    case 0: return "it has no response"
    case 100..<200: return "its response is only an interim response"
    // Served from a cache as complete responses, 206 and 304 would be wrong.
    case 206: return Self.isPart
    case 304: return "its response (304) only confirms a stored response"
    case 100...999: break
    default: return "its status is not an HTTP status"
    }
    // Programs leave out bodies that they did not keep. An empty body would be stored as if the
    // server had sent it.
    guard let content else { return contentFile == nil ? "it has no content" : Self.lacksFile }
    guard content.bodySize != nil else { return "its content is not Base64" }
    // Without the time there is no age, and the entry would be fresh or stale by accident.
    guard stored != nil else { return "it has no time" }
    return nil
  }

  /// The time at which the response was complete.
  private var stored: Timestamp? {
    guard let started else { return nil }
    // A duration of more than a day is not plausible, so it is ignored.
    guard let milliseconds, 0...86_400_000 ~= milliseconds else { return started }
    return Timestamp(secondsSince1970: started.secondsSince1970 + milliseconds / 1_000)
  }

  /// Returns the response to store; `nil` if there is a ``finding``.
  ///
  /// - Parameter body: The body.
  func newResponse(_ body: Body?) -> NewResponse? {
    guard finding == nil, let url, let status, let stored else { return nil }
    var response = NewResponse(
      url: url, method: isGET ? "GET" : method ?? "GET", requestHeaders: requestHeaders,
      status: status,
      headers: headers, stored: stored, body: body)
    // HAR has one URL for an exchange. After a redirect, a cache has two, and finds the response by
    // that of the request.
    response.request.url = extras.requestURL ?? url
    response.request.body = requestBody
    // Chrome's word for a response without a media type.
    if response.mimeType == nil, let contentType, contentType != "x-unknown" {
      response.mimeType = HeaderFields([.init(name: "content-type", value: contentType)]).mediaType
    }
    response.firstStored = extras.firstStored ?? stored
    response.partition = extras.partition
    response.storagePolicy = .init(stored: extras.storagePolicy ?? 0)
    return response
  }
}

extension HAREntry {
  /// Reads an entry.
  ///
  /// - Parameter sizes: The sizes of its content, if it was read before.
  /// - Throws: ``JSONError``, or ``ResponseArchiveError`` if a limit is exceeded.
  init(
    reading json: inout JSONReader, _ budget: HARBudget, sizes: HARContent.Sizes? = nil
  ) throws {
    // The limit is for one entry, as only one is in memory at a time.
    budget.renew()
    try json.members { json, name in
      switch ByteString(name) {
      case "startedDateTime":
        started = try json.text(budget).flatMap { Timestamp(iso8601: $0.bytes, .programs) }
      case "time": milliseconds = try json.lenientNumber()
      case "request": try readRequest(&json, budget)
      case "response": try readResponse(&json, budget, sizes)
      case "_urlcache": try readExtras(&json, budget)
      default: try json.skip()
      }
    }
  }

  private mutating func readRequest(_ json: inout JSONReader, _ budget: HARBudget) throws {
    try json.members { json, name in
      switch ByteString(name) {
      case "method": method = try json.text(budget)
      case "url": url = try json.text(budget)
      case "headers": requestHeaders = try json.headers(budget)
      case "postData": try readPostData(&json, budget)
      default: try json.skip()
      }
    }
  }

  private mutating func readPostData(_ json: inout JSONReader, _ budget: HARBudget) throws {
    var (text, encoding) = (nil as ByteString?, nil as ByteString?)
    try json.members { json, name in
      switch ByteString(name) {
      case "text": text = try json.text(budget)
      // HAR 1.2 has an encoding for `content`, and none for `postData`. So programs, this one
      // included, write binary request bodies with a member of their own.
      case "_encoding", "encoding": encoding = try json.text(budget)
      case "_file": requestBodyFile = try json.text(budget)
      default: try json.skip()
      }
    }
    requestBody = encoding == "base64" ? text.flatMap { Base64.decode($0.bytes) } : text?.bytes
  }

  private mutating func readResponse(
    _ json: inout JSONReader, _ budget: HARBudget, _ sizes: HARContent.Sizes?
  ) throws {
    try json.members { json, name in
      switch ByteString(name) {
      // Some programs write numbers as strings.
      case "status": status = try json.lenientNumber().flatMap { Int64(exactly: $0) }
      case "headers": headers = try json.headers(budget)
      case "content": try readContent(&json, budget, sizes)
      default: try json.skip()
      }
    }
  }

  private mutating func readContent(
    _ json: inout JSONReader, _ budget: HARBudget, _ sizes: HARContent.Sizes?
  ) throws {
    var encoding: ByteString?
    try json.members { json, name in
      switch ByteString(name) {
      case "mimeType": contentType = try json.text(budget)
      case "encoding": encoding = try json.text(budget)
      case "_file": contentFile = try json.text(budget)
      case "text":
        // `size` is ignored, because Safari often writes 0 for a body.
        if try !json.isString() {
          content = nil
          try json.skip()
        } else if let sizes {
          content = try HARContent(skipping: &json, sizes)
        } else {
          content = try HARContent(measuring: &json, budget)
        }
      default: try json.skip()
      }
    }
    if let encoding, !encoding.bytes.isEmpty {
      content?.coding = encoding.asciiLowercased == "base64" ? .base64 : .unknown
    }
  }

  private mutating func readExtras(_ json: inout JSONReader, _ budget: HARBudget) throws {
    try json.members { json, name in
      switch ByteString(name) {
      case "first_stored":
        extras.firstStored = try json.text(budget).flatMap {
          Timestamp(iso8601: $0.bytes, .programs)
        }
      case "partition": extras.partition = try json.text(budget)
      case "request_url": extras.requestURL = try json.text(budget)
      case "storage_policy":
        extras.storagePolicy = try json.lenientNumber().flatMap { Int64(exactly: $0) }
      default: try json.skip()
      }
    }
  }
}

/// The limit on the memory that one entry may take.
final class HARBudget {
  let limits: ArchiveLimits
  let path: String
  private var held: ByteCount = 0

  init(_ limits: ArchiveLimits, path: String) {
    self.limits = limits
    self.path = path
  }

  /// Starts the next entry.
  func renew() { held = 0 }

  /// Checks that `count` more bytes are within the limit.
  func spend(_ count: Int) throws {
    held += ByteCount(count)
    try limits.check(held, .document, at: path)
  }
}

extension JSONReader {
  /// Reads an object like ``object(_:)``, and skips any other value.
  fileprivate mutating func members(
    _ member: (inout JSONReader, _ name: [UInt8]) throws -> Void
  ) throws {
    if try isObject() { try object(member) } else { try skip() }
  }

  /// Reads a string, and skips any other value.
  fileprivate mutating func text(_ budget: HARBudget) throws -> ByteString? {
    guard try isString() else {
      try skip()
      return nil
    }
    var text: [UInt8] = []
    var spent = 0
    try beginString()
    while try continueString(into: &text) {
      try budget.spend(text.count - spent)
      spent = text.count
    }
    return ByteString(text)
  }

  /// Reads a number, or a string that contains one, and skips any other value.
  fileprivate mutating func lenientNumber() throws -> Double? {
    // The string is given up at once, so it counts against the default limit and not against what
    // the entry holds.
    guard try isNumber() else {
      let budget = HARBudget(ArchiveLimits(), path: "")
      return try text(budget)?.string.flatMap { Double($0) }
    }
    let value = Double(try numeral())
    return value.flatMap { $0.isFinite ? $0 : nil }
  }

  /// Reads header fields. Drops fields with invalid names, such as the pseudo-header fields of HTTP/2 (RFC 9113
  /// §8.3).
  fileprivate mutating func headers(_ budget: HARBudget) throws -> HeaderFields {
    var headers = HeaderFields()
    guard try isArray() else {
      try skip()
      return headers
    }
    try array { json in
      var (name, value) = (nil as ByteString?, nil as ByteString?)
      // The memory that an empty field takes, so that many of them cannot evade the limit.
      try budget.spend(64)
      try json.members { json, member in
        switch ByteString(member) {
        case "name": name = try json.text(budget)
        case "value": value = try json.text(budget)
        default: try json.skip()
        }
      }
      // Browsers list `:status` and `:path` of HTTP/2 among the header fields. They are no fields,
      // and no HTTP/1.1 message could contain them.
      guard let name, let value, name.bytes.isToken else { return }
      // Browsers join repeated fields with line feeds; split them again.
      try budget.spend(64 * value.bytes.count { $0 == 0x0A })
      for line in value.bytes.split(separator: 0x0A) {
        headers.fields.append(.init(name: name, value: .fieldValue(line)))
      }
      if value.bytes.isEmpty { headers.fields.append(.init(name: name, value: value)) }
    }
    return headers
  }
}

extension ByteString {
  /// Returns a field value without surrounding white space, and with a space for each control character (RFC 9110
  /// §5.5).
  fileprivate static func fieldValue(_ line: ArraySlice<UInt8>) -> ByteString {
    let clean = line.map { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F ? 0x20 : $0 }
    let start = clean.firstIndex { $0 != 0x20 && $0 != 0x09 } ?? clean.endIndex
    let end = clean.lastIndex { $0 != 0x20 && $0 != 0x09 }.map { $0 + 1 } ?? start
    return ByteString(Array(clean[start..<end]))
  }
}
