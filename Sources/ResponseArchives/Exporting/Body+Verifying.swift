public import Bytes
import Files
public import ResponseStorage

// Exporting a body may read it twice: first for the digest that precedes it in the archive, then to write it. Both
// reads must return the same bytes.
extension Body {
  private static let changed = StoreError(
    .changedWhileReading, at: nil, because: "the length or digest of a body changed")

  // Otherwise the calling thread would read the part twice, and all other threads would wait for it.
  /// The size of the largest body that is read into memory, in bytes.
  static let largestInMemory = ByteCount(1 << 20)

  /// Returns the body with its bytes in memory, after verifying its size and, if it is known, its digest.
  ///
  /// - Throws: ``StoreError`` if the bytes do not match, ``FileError`` if a signal arrived, or any error from reading.
  func inMemory() throws -> Body {
    if bytes != nil { return self }
    try checkSignals()
    let bytes = try readAll()
    // An unknown digest is computed on another thread.
    guard sha256 == nil || sha256 == Digest(of: bytes).hexadecimal else { throw Self.changed }
    var body = Body(bytes)
    body.sha256 = sha256
    return body
  }

  /// Reads the whole body to compute its digest before it is written.
  ///
  /// - Parameter look: Receives the bytes, chunk by chunk.
  /// - Returns: The body to write, with its digest. A body that can be read only once is replaced by a copy.
  /// - Throws: ``StoreError`` if the bytes do not match the announced size or digest, or any error from reading or
  ///   `look`.
  func measured(_ look: (ArraySlice<UInt8>) throws -> Void = { _ in }) throws -> Body {
    // An archive that is read from beginning to end gives each body only once, and converting one
    // archive into another needs it twice.
    guard isReadOnce else {
      var measured = self
      measured.sha256 = try forEachVerifiedChunk(look)
      return measured
    }
    let copy = try BodyCopy(ofSize: size)
    let sha256 = try forEachVerifiedChunk { chunk in
      try copy.append(chunk)
      try look(chunk)
    }
    var body = copy.body
    body.sha256 = sha256
    return body
  }

  /// Calls `body` with each chunk in order, and verifies the announced size and, if known, the digest.
  ///
  /// - Returns: The SHA-256 digest, in lowercase hexadecimal.
  /// - Throws: ``StoreError`` if the bytes do not match the announced size or digest, ``FileError`` if a signal
  ///   arrived, or any error from reading or `body`.
  @discardableResult
  func forEachVerifiedChunk(_ body: (ArraySlice<UInt8>) throws -> Void) throws -> String {
    if let bytes {
      try body(bytes[...])
      return sha256 ?? Digest(of: bytes).hexadecimal
    }
    var digest = Digest()
    var count: ByteCount = 0
    var reader = try makeReader()
    try reader.forEachChunk { chunk in
      try checkSignals()
      count += ByteCount(chunk.count)
      // Fail before passing on too much: the size was already written to the archive.
      guard count <= size else { throw Self.changed }
      digest.update(chunk)
      try body(chunk)
    }
    let found = digest.hexadecimal
    // An app may replace a body file between the two readings. The digest in the archive would then
    // be wrong, and the whole archive would be refused on import.
    guard count == size, found == sha256 ?? found else { throw Self.changed }
    return found
  }
}

/// A copy of a body that can be read only once: in memory if it is small, otherwise in an unlinked file.
private final class BodyCopy {
  private let size: ByteCount
  private var bytes: [UInt8] = []
  private var file: TemporaryFile?

  init(ofSize size: ByteCount) throws(FileError) {
    self.size = size
    if size > Body.largestInMemory { file = try TemporaryFile() }
  }

  func append(_ chunk: ArraySlice<UInt8>) throws(FileError) {
    if file == nil { bytes += chunk } else { try file?.append(Array(chunk)) }
  }

  var body: Body {
    guard file != nil else { return Body(bytes) }
    return Body(size: size) { [self] in
      var offset: Int64 = 0
      return BodyReader(size: size) { [self] buffer in
        let count = try file?.read(into: &buffer, at: offset) ?? 0
        offset += Int64(count)
        return count
      }
    }
  }
}

extension RawResponse {
  /// The size of the body, in bytes; `nil` if there is none.
  public var bodySize: ByteCount? { part(.body)?.content?.size }
}

extension Body {
  /// Returns the SHA-256 digest of the body, in lowercase hexadecimal. Reads the body unless the digest is known.
  ///
  /// - Throws: Any error from reading, or ``FileError`` if a signal interrupts it.
  public func digest() throws -> String {
    if let sha256 { return sha256 }
    if let bytes { return Digest(of: bytes).hexadecimal }
    var digest = Digest()
    try forEachChunk { chunk in
      try checkSignals()
      digest.update(chunk)
    }
    return digest.hexadecimal
  }

  /// Reads the whole body only to surface read errors. Does nothing for a body in memory, or one that was verified.
  public func readThrough() throws {
    // A body of gigabytes takes seconds to read, in which a signal must still end the command.
    if bytes == nil, !isVerified { try forEachChunk { _ in try checkSignals() } }
  }
}

extension Digest {
  /// Creates the digest of an array of bytes.
  init(of bytes: [UInt8]) {
    self.init()
    update(bytes[...])
  }
}
