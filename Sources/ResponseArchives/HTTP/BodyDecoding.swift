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
  /// - Parameter limit: The maximum size of the decoded body, in bytes.
  /// - Returns: Whether there was a coding.
  /// - Throws: ``BodyDecodingError`` if the body cannot be decoded, after passing on some of it; ``StoreError`` if
  ///   there is no such response or body; or any error that `body` throws.
  public func forEachPiece(
    ofDecodedBody id: StoredResponse.ID, limit: ByteCount,
    _ body: (ArraySlice<UInt8>) throws -> Void
  ) throws -> Bool {
    var hadCoding = false
    let headers = try response(id, .responseHeaders)?.responseHeaders
    try withBody(of: id) { hadCoding = try $0.forEachDecodedChunk(headers, limit: limit, body) }
    return hadCoding
  }
}

extension BodyReader {
  /// Whether a body that begins with these bytes has a content coding that ``forEachDecodedChunk(limit:_:)`` undoes.
  public static func hasKnownCoding(_ start: ArraySlice<UInt8>) -> Bool {
    ContentCoding(ofDataBeginningWith: start) != nil
  }

  /// Calls `body` with the remaining bytes, in chunks, after undoing their content coding.
  ///
  /// Only one coding is undone: decoding a compressed file that was compressed again leaves a compressed file. A body
  /// that does not begin like a known coding is passed on as stored.
  ///
  /// - Parameter limit: The maximum size of the decoded body, in bytes.
  /// - Returns: Whether there was a coding.
  /// - Throws: ``BodyDecodingError`` if the body cannot be decoded, after passing on some of it; or any error of
  ///   reading or of `body`.
  public mutating func forEachDecodedChunk(
    limit: ByteCount, _ body: (ArraySlice<UInt8>) throws -> Void
  ) throws -> Bool {
    if let bytes = takeBytes() {
      if let coding = ContentCoding(ofDataBeginningWith: bytes) {
        try decode(coding, from: bytes, limit: limit, body)
        return true
      }
      if !bytes.isEmpty { try body(bytes) }
      return false
    }
    // Most bodies are short and need only a short buffer.
    let length = min(max(size, ByteCount(ContentCoding.longestMark)), ByteCount(1 << 16))
    var buffer = [UInt8](repeating: 0, count: Int(clamping: length.bytes))
    var count = try read(into: &buffer)
    if let coding = ContentCoding(ofDataBeginningWith: buffer[..<count]) {
      try decode(coding, from: buffer[..<count], limit: limit, body)
      return true
    }
    while count > 0 {
      try body(buffer[..<count])
      count = try read(into: &buffer)
    }
    return false
  }

  /// Calls `body` with the remaining bytes, in chunks, after undoing the content codings that header fields name, or the
  /// one that the bytes begin like.
  ///
  /// - Parameters:
  ///   - headers: The header fields of the response, if they are known.
  ///   - limit: The maximum size of the decoded body, in bytes.
  /// - Returns: Whether there was a coding.
  /// - Throws: ``BodyDecodingError`` if the body cannot be decoded, after passing on some of it; or any error of
  ///   reading or of `body`.
  public mutating func forEachDecodedChunk(
    _ headers: HeaderFields?, limit: ByteCount, _ body: (ArraySlice<UInt8>) throws -> Void
  ) throws -> Bool {
    let codings = headers?.codings(named: "content-encoding") ?? []
    // With one of these codings alone, its signature says whether the body still has it.
    guard
      codings.count > 1 || codings.contains(where: { !["gzip", "x-gzip", "zstd"].contains($0) })
    else { return try forEachDecodedChunk(limit: limit, body) }
    var start = takeBytes()
    var buffer: [UInt8] = []
    if start == nil { buffer = [UInt8](repeating: 0, count: 1 << 16) }
    do {
      return try CodedBody.forEachChunk(
        codings, isOfText: headers?.isOfText ?? false, limit: limit
      ) {
        if let bytes = start {
          start = []
          return bytes
        }
        let count = try read(into: &buffer)
        return buffer[..<count]
      } _: {
        try body($0)
      }
    } catch let error as HTTPBodyError {
      throw BodyDecodingError("cannot decode the body: \(error)")
    } catch let error as ContentDecodingError {
      throw BodyDecodingError(error, nil)
    }
  }

  /// Decodes `start`, which shows the coding, and the remaining bytes.
  private mutating func decode(
    _ coding: ContentCoding, from start: ArraySlice<UInt8>, limit: ByteCount,
    _ body: (ArraySlice<UInt8>) throws -> Void
  ) throws {
    var start = start
    do {
      try ContentDecoder(coding, limit: limit.bytes).decode(
        { target in
          if start.isEmpty { return try read(into: &target) }
          let piece = start.prefix(target.count)
          target.replaceSubrange(..<piece.count, with: piece)
          start = start.dropFirst(piece.count)
          return piece.count
        }, body)
    } catch let error as ContentDecodingError {
      throw BodyDecodingError(error, coding)
    }
  }
}

/// An error for a body whose content coding cannot be undone.
public struct BodyDecodingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Whether the only error is that the decoded body exceeds the limit.
  public let isTooLarge: Bool

  /// What happened, with the offset in the stored body, and without text from the cache.
  public let description: String

  init(_ error: ContentDecodingError, _ coding: ContentCoding?) {
    isTooLarge = error.kind == .tooLarge
    description = "cannot decode the body\(coding.map { " as \($0.rawValue)" } ?? ""): \(error)"
  }

  init(_ description: String) {
    isTooLarge = false
    self.description = description
  }
}
