import Bytes
import ResponseArchives
import ResponseStorage

extension SpooledBytes {
  /// Reads the id of a response.
  mutating func id() -> StoredResponse.ID { byte() == 0 ? .row(integer()) : .file(text()) }

  /// Reads a time.
  mutating func time() -> Timestamp? {
    Timestamp(secondsSince1970: Double(bitPattern: number()))
  }

  /// Reads a digest.
  mutating func digest() -> TextDigest {
    let high = number()
    return TextDigest(high: high, low: number())
  }

  /// Reads the version of a file.
  mutating func file() -> FileVersion {
    let (number, modified) = (number(), integer())
    return FileVersion(number: number, modified: modified, size: ByteCount(integer()))
  }

  /// Reads the version of a response.
  mutating func version() -> ResponseVersion {
    let id = id()
    let key = optional { $0.text() }
    let stored = optional { $0.time() } ?? nil
    return ResponseVersion(id: id, key: key, stored: stored, file: optional { $0.file() })
  }
}

extension [UInt8] {
  /// Appends the id of a response.
  mutating func append(id: StoredResponse.ID) {
    switch id {
    case .row(let row):
      append(0)
      append(integer: row)
    case .file(let name):
      append(1)
      append(text: name)
    }
  }

  /// Appends a time.
  mutating func append(time: Timestamp) { append(number: time.secondsSince1970.bitPattern) }

  /// Appends a digest.
  mutating func append(digest: TextDigest) {
    append(number: digest.high)
    append(number: digest.low)
  }

  /// Appends the version of a file.
  mutating func append(file: FileVersion) {
    append(number: file.number)
    append(integer: file.modified)
    append(integer: file.size.bytes)
  }

  /// Appends the version of a response.
  mutating func append(version: ResponseVersion) {
    append(id: version.id)
    append(version.key) { $0.append(text: $1) }
    append(version.stored) { $0.append(time: $1) }
    append(version.file) { $0.append(file: $1) }
  }
}
