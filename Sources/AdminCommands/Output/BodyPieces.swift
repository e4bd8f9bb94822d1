import Bytes
import Rendering
import ResponseArchives
import ResponseStorage

/// The body of an entry, in the form that the options of `body` request.
struct BodyPieces {
  let source: any ResponseSource
  let id: StoredResponse.ID

  /// The maximum size of a decoded body, in bytes; `nil` to write the body as stored.
  let decodedLimit: ByteCount?

  /// Whether to indent the body as JSON.
  let isIndented: Bool

  /// Whether decoding or indenting can fail, so that the body must be checked before anything is written.
  var needsLook: Bool { isIndented || decodedLimit != nil }

  /// Calls a closure with each piece of the body.
  ///
  /// - Returns: Whether a content coding was removed.
  @discardableResult
  func forEach(_ body: (ArraySlice<UInt8>) throws -> Void) throws -> Bool {
    do {
      return isIndented ? try indent(body) : try read(body)
    } catch let error as BodyDecodingError {
      throw CommandFailure(error)
      // The offset is that in the body as it is decoded, in which the error can be found with other
      // tools.
    } catch let error as JSONSyntaxError {
      throw CommandFailure(
        .data, kind: "not-json", "the body is not JSON: \(error)",
        hint: "write it unchanged, without '--pretty'")
    }
  }

  private func read(_ body: (ArraySlice<UInt8>) throws -> Void) throws -> Bool {
    if let decodedLimit {
      return try source.forEachPiece(ofDecodedBody: id, limit: decodedLimit, body)
    }
    try source.forEachPiece(ofBody: id, body)
    return false
  }

  private func indent(_ body: (ArraySlice<UInt8>) throws -> Void) throws -> Bool {
    var indenter = JSONIndenter()
    var text = TextBuffer()
    let wasCoded = try read { piece in
      try indenter.append(all: piece, into: &text) { text in
        guard text.bytes.count >= 1 << 16 else { return }
        try body(text.bytes[...])
        text.removeAll(keepingCapacity: true)
      }
    }
    try indenter.finish(into: &text)
    try body(text.bytes[...])
    return wasCoded
  }
}
