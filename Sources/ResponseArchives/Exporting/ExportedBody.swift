import Bytes
import Files
import ResponseStorage

/// The body of an entry that is exported, which is read more than once: first for what must be known before
/// its bytes, such as their digest, and then to be written.
///
/// Each reading must give what the one before did.
final class ExportedBody {
  /// The largest body that is kept in memory, if its source gives it only once.
  private static let largestKept = ByteCount(1 << 20)

  /// The number of bytes.
  let size: ByteCount

  private let contents: RawResponse.Part.Contents
  private let temporaryFolder: String
  private var sha256: String?
  private var copy: Copy?

  /// What came of a source that gives it only once.
  private final class Copy {
    var bytes: [UInt8] = []
    var file: TemporaryFile?
  }

  /// Creates a body; `nil` if there is nothing in a part.
  ///
  /// - Parameters:
  ///   - sha256: The digest that the bytes must have; `nil` if it is not known.
  ///   - temporaryFolder: Where a large body is kept whose source gives it only once.
  init?(_ part: RawResponse.Part?, sha256: String? = nil, temporaryFolder: String) {
    guard let part, let size = part.size else { return nil }
    self.size = size
    self.temporaryFolder = temporaryFolder
    contents = part.contents
    self.sha256 = sha256
    if sha256 == nil, case .stream(let stream) = contents { self.sha256 = stream.sha256 }
  }

  /// The SHA-256 digest of the bytes, in small hexadecimal digits; they are read if it is not known.
  func digest() throws -> String {
    if let sha256 { return sha256 }
    try measure { _ in }
    return sha256 ?? ""
  }

  /// Passes all bytes on, piece by piece, before they are written; they can be read again afterwards.
  ///
  /// - Throws: ``StoreError`` if the bytes are others than they were, or whatever reading them or `piece`
  ///   throws.
  func measure(_ piece: (ArraySlice<UInt8>) throws -> Void) throws {
    guard case .stream(let stream) = contents, stream.isReadOnce, copy == nil else {
      return try forEachPiece(piece)
    }
    let copy = Copy()
    if size > Self.largestKept { copy.file = try TemporaryFile(in: temporaryFolder) }
    var reading = Reading()
    try Self.read(stream) { bytes in
      try reading.take(bytes, upTo: size)
      if copy.file == nil { copy.bytes += bytes } else { try copy.file?.append(Array(bytes)) }
      try piece(bytes)
    }
    try end(reading)
    self.copy = copy
  }

  /// Passes all bytes on, piece by piece, to be written. It can be done once; ``measure(_:)`` comes before it.
  ///
  /// - Throws: ``StoreError`` if the bytes are others than they were, or whatever reading them or `piece`
  ///   throws.
  func forEachPiece(_ piece: (ArraySlice<UInt8>) throws -> Void) throws {
    var reading = Reading()
    func take(_ bytes: ArraySlice<UInt8>) throws {
      try reading.take(bytes, upTo: size)
      try piece(bytes)
    }
    switch contents {
    case .null: break
    case .bytes(let bytes): try take(bytes[...])
    case .stream(let stream):
      if let copy { try Self.read(copy, take) } else { try Self.read(stream, take) }
    }
    try end(reading)
  }

  /// What came in one reading.
  private struct Reading {
    static let changed = StoreError(
      .changedWhileReading, at: "body", because: "a body is another than it was before")

    var digest = Digest()
    var count: ByteCount = 0

    mutating func take(_ bytes: ArraySlice<UInt8>, upTo size: ByteCount) throws(StoreError) {
      count += ByteCount(bytes.count)
      guard count <= size else { throw Self.changed }
      digest.update(bytes)
    }
  }

  /// Makes sure that as many bytes came as were said, and the same as before.
  private func end(_ reading: Reading) throws(StoreError) {
    let sha256 = reading.digest.hexadecimal
    guard reading.count == size, self.sha256.map({ $0 == sha256 }) ?? true else {
      throw Reading.changed
    }
    self.sha256 = sha256
  }

  private static func read(
    _ stream: RawResponse.PartStream, _ piece: (ArraySlice<UInt8>) throws -> Void
  ) throws {
    try stream.read { reader in
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while case let count = try reader.read(into: &buffer), count > 0 {
        try checkSignals()
        try piece(buffer[..<count])
      }
    }
  }

  private static func read(
    _ copy: Copy, _ piece: (ArraySlice<UInt8>) throws -> Void
  ) throws {
    guard copy.file != nil else { return try piece(copy.bytes[...]) }
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var offset: Int64 = 0
    while case let count = try copy.file?.read(into: &buffer, at: offset) ?? 0, count > 0 {
      try checkSignals()
      try piece(buffer[..<count])
      offset += Int64(count)
    }
  }
}
