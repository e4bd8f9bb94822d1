import Bytes
import ResponseArchives
import ResponseStorage

extension ImportPlan.Entry: Spoolable {
  func append(to bytes: inout [UInt8]) {
    bytes.append(integer: number)
    bytes.append(url) { $0.append(text: $1) }
    bytes.append(size) { $0.append(integer: $1.bytes) }
    bytes.append(action)
    bytes.append(reason) { $0.append(text: ByteString($1)) }
    bytes.append(UInt8(losses.count))
    for loss in losses { bytes.append(place(of: loss)) }
    bytes.append(archived) { $0.append(time: $1) }
    bytes.append(key) { $0.append(digest: $1) }
    bytes.append(standing) { $0.append(version: $1) }
  }

  init(reading bytes: inout SpooledBytes) {
    number = bytes.integer()
    url = bytes.optional { $0.text() }
    size = bytes.optional { ByteCount($0.integer()) }
    action = bytes.action()
    reason = bytes.optional { String(decoding: $0.text().bytes, as: UTF8.self) }
    losses = (0..<bytes.byte()).map { _ in ResponseLoss.allCases[Int(bytes.byte())] }
    archived = bytes.optional { $0.time() } ?? nil
    key = bytes.optional { $0.digest() }
    standing = bytes.optional { $0.version() }
  }
}

/// Returns the place of a value among the cases of its type.
private func place<Value: CaseIterable & Equatable>(of value: Value) -> UInt8 {
  Value.allCases.enumerated().first { $0.element == value }.map { UInt8($0.offset) } ?? 0
}

extension [UInt8] {
  /// Appends a value that may be missing.
  mutating func append<Value>(_ value: Value?, _ body: (inout [UInt8], Value) -> Void) {
    append(value == nil ? 0 : 1)
    if let value { body(&self, value) }
  }

  /// Appends an action.
  mutating func append(_ action: ImportPlan.Action) { append(place(of: action)) }

  /// Appends a digest.
  mutating func append(digest: TextDigest) {
    append(number: digest.high)
    append(number: digest.low)
  }

  /// Appends a time.
  mutating func append(time: Timestamp) { append(number: time.secondsSince1970.bitPattern) }

  fileprivate mutating func append(version: ResponseVersion) {
    switch version.id {
    case .row(let row):
      append(0)
      append(integer: row)
    case .file(let name):
      append(1)
      append(text: name)
    }
    append(version.key) { $0.append(text: $1) }
    append(version.stored) { $0.append(time: $1) }
    append(version.file) { bytes, file in
      bytes.append(number: file.number)
      bytes.append(integer: file.modified)
      bytes.append(integer: file.size.bytes)
    }
  }
}

extension SpooledBytes {
  /// Reads a value that may be missing.
  mutating func optional<Value>(_ body: (inout SpooledBytes) -> Value) -> Value? {
    byte() == 0 ? nil : body(&self)
  }

  /// Reads an action.
  mutating func action() -> ImportPlan.Action { ImportPlan.Action.allCases[Int(byte())] }

  /// Reads a digest.
  mutating func digest() -> TextDigest {
    let high = number()
    return TextDigest(high: high, low: number())
  }

  /// Reads a time.
  mutating func time() -> Timestamp? { Timestamp(secondsSince1970: Double(bitPattern: number())) }

  fileprivate mutating func version() -> ResponseVersion {
    let id: StoredResponse.ID = byte() == 0 ? .row(integer()) : .file(text())
    let key = optional { $0.text() }
    let stored = optional { $0.time() } ?? nil
    let file = optional { bytes in
      let (number, modified) = (bytes.number(), bytes.integer())
      return FileVersion(number: number, modified: modified, size: ByteCount(bytes.integer()))
    }
    return ResponseVersion(id: id, key: key, stored: stored, file: file)
  }
}
