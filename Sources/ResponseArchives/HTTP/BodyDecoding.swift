import Archive
public import Bytes
public import ResponseStorage

extension ResponseSource {
  /// Passes on the stored body of a response, piece by piece.
  ///
  /// - Throws: ``StoreError`` if there is no such response or no such body, or whatever `body` throws.
  public func forEachPiece(
    ofBody id: StoredResponse.ID, _ body: (ArraySlice<UInt8>) throws -> Void
  ) throws {
    try withBody(of: id) { try $0.forEachChunk(body) }
  }

  /// Passes on the body of a response, piece by piece, without the content coding that it still has.
  ///
  /// Only one coding is undone: of a compressed file that was compressed again, a compressed file
  /// remains. A body that begins as no known coding is passed on as it is stored.
  ///
  /// - Parameter limit: The most bytes that may come out of a coding.
  /// - Returns: Whether there was a coding.
  /// - Throws: ``BodyDecodingError`` if the body cannot be decoded, some of which was passed on
  ///   then; ``StoreError`` if there is no such response or no such body; or whatever `body` throws.
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

/// A body that its content coding cannot be taken from.
public struct BodyDecodingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Whether it is only that more comes out than is allowed.
  public let isTooLarge: Bool

  /// What happened, with the place in the stored body, and without text from the cache.
  public let description: String

  init(_ error: ContentDecodingError, _ coding: ContentCoding) {
    isTooLarge = error.kind == .tooLarge
    description = "the body cannot be decoded as \(coding.rawValue): \(error)"
  }
}
