public import Bytes
import ResponseArchives
public import ResponseStorage
public import SQLite

extension PackedValues {
  /// Appends the id of a response.
  public mutating func append(id: StoredResponse.ID) {
    switch id {
    case .row(let row):
      append(false)
      append(row)
    case .file(let name):
      append(true)
      append(name)
    }
  }

  /// Appends a time.
  public mutating func append(time: Timestamp) { append(time.secondsSince1970) }

  /// Appends the version of a file.
  public mutating func append(file: FileVersion) {
    append(Int64(bitPattern: file.number))
    append(file.modified)
    append(file.size.bytes)
  }

  /// Appends the version of a response.
  public mutating func append(version: ResponseVersion) {
    append(id: version.id)
    append(version.key) { $0.append($1) }
    append(version.stored) { $0.append(time: $1) }
    append(version.file) { $0.append(file: $1) }
  }

  /// Appends a digest.
  mutating func append(digest: TextDigest) {
    append(bits: digest.high)
    append(bits: digest.low)
  }
}

extension PackedReader {
  /// Reads the id of a response.
  public mutating func id() throws(Failure) -> StoredResponse.ID {
    try flag() ? .file(try text()) : .row(try number())
  }

  /// Reads a time.
  public mutating func time() throws(Failure) -> Timestamp {
    guard let time = Timestamp(secondsSince1970: try real()) else { throw Failure() }
    return time
  }

  /// Reads the version of a file.
  public mutating func file() throws(Failure) -> FileVersion {
    let number = UInt64(bitPattern: try number())
    return FileVersion(
      number: number, modified: try self.number(), size: ByteCount(try self.number()))
  }

  /// Reads the version of a response.
  public mutating func version() throws(Failure) -> ResponseVersion {
    ResponseVersion(
      id: try id(), key: try optionalText(),
      stored: try optional { reader throws(Failure) in try reader.time() },
      file: try optional { reader throws(Failure) in try reader.file() })
  }

  /// Reads a digest.
  mutating func digest() throws(Failure) -> TextDigest {
    TextDigest(high: try bits(), low: try bits())
  }
}

extension StoredResponse.ID: ScratchRow {
  public func pack(into values: inout PackedValues) { values.append(id: self) }

  public init(from reader: inout PackedReader) throws(PackedReader.Failure) {
    self = try reader.id()
  }

  /// The id as a key, in whose order ids are.
  var scratchKey: Scratch.Key {
    switch self {
    case .row(let row): .integer(row)
    case .file(let name): .bytes(name.bytes)
    }
  }
}

extension TextDigest {
  /// The digest as two keys.
  var scratchKeys: [Scratch.Key] {
    [.integer(Int64(bitPattern: high)), .integer(Int64(bitPattern: low))]
  }
}
