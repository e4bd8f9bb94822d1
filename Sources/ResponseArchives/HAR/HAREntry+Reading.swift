import Bytes
import JSON
import ResponseStorage

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
