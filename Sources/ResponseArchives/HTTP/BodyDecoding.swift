import Archive
public import Bytes
public import ResponseStorage

extension ResponseSource {
  /// Calls `body` with the stored body of a response, piece by piece.
  ///
  /// - Throws: ``StoreError`` if there is no such response or body, or any error that `body` throws.
  public func forEachPiece(
    ofBody id: StoredResponse.ID, _ body: (ArraySlice<UInt8>) throws -> Void
  ) throws {
    try withBody(of: id) { try $0.forEachChunk(body) }
  }

  /// Calls `body` with the body of a response, piece by piece, after undoing its content coding.
  ///
  /// Only one coding is undone: decoding a compressed file that was compressed again leaves a compressed file. A body
  /// that does not begin like a known coding is passed on as stored.
  ///
  /// - Parameter limit: The maximum size of the decoded body, in bytes.
  /// - Returns: Whether there was a coding.
  /// - Throws: ``BodyDecodingError`` if the body cannot be decoded, after passing on some of it; ``StoreError`` if
  ///   there is no such response or body; or any error that `body` throws.
  public func forEachPiece(
    ofDecodedBody id: StoredResponse.ID, limit: ByteCount,
    _ body: (ArraySlice<UInt8>) throws -> Void
  ) throws -> Bool {
    var coding: ContentCoding?
    try withBody(of: id) { reader in
      var start = [UInt8](repeating: 0, count: ContentCoding.longestMark)
      let count = try reader.read(into: &start)
      coding = ContentCoding(ofDataBeginningWith: start[..<count])
    }
    guard let coding else {
      try forEachPiece(ofBody: id, body)
      return false
    }
    try withBody(of: id) { reader in
      do {
        try ContentDecoder(coding, limit: limit.bytes).decode({ try reader.read(into: &$0) }, body)
      } catch let error as ContentDecodingError {
        throw BodyDecodingError(error, coding)
      }
    }
    return true
  }
}

/// An error for a body whose content coding cannot be undone.
public struct BodyDecodingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Whether the only error is that the decoded body exceeds the limit.
  public let isTooLarge: Bool

  /// What happened, with the offset in the stored body, and without text from the cache.
  public let description: String

  init(_ error: ContentDecodingError, _ coding: ContentCoding) {
    isTooLarge = error.kind == .tooLarge
    description = "cannot decode the body as \(coding.rawValue): \(error)"
  }
}
