import Bytes
import Rendering
import ResponseArchives
import ResponseStorage

/// The body of one entry, as the options of `body` want it.
struct BodyPieces {
  let source: any ResponseSource
  let id: StoredResponse.ID

  /// The most bytes that a content coding may give; `nil` if the body is wanted as it is stored.
  let decodedLimit: ByteCount?

  /// Whether the body is JSON that is to be indented.
  let isIndented: Bool

  /// Whether a body can turn out to be another than is wanted.
  var needsLook: Bool { isIndented || decodedLimit != nil }

  /// Passes on the body, piece by piece.
  ///
  /// - Returns: Whether a content coding was undone.
  @discardableResult
  func forEach(_ body: (ArraySlice<UInt8>) throws -> Void) throws -> Bool {
    do {
      return isIndented ? try indent(body) : try read(body)
    } catch let error as BodyDecodingError {
      throw CommandFailure(error)
    } catch let error as JSONSyntaxError {
      throw CommandFailure(
        .data, kind: "not-json", "the body is not JSON: \(error)",
        hint: "write it as it is, without '--pretty'")
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
      // Small bites, as each byte may come with an indentation of a kilobyte.
      var rest = piece
      while !rest.isEmpty {
        try indenter.append(rest.prefix(4_096), into: &text)
        rest = rest.dropFirst(4_096)
        if text.bytes.count >= 1 << 16 || rest.isEmpty {
          try body(text.bytes[...])
          text.removeAll(keepingCapacity: true)
        }
      }
    }
    try indenter.finish(into: &text)
    try body(text.bytes[...])
    return wasCoded
  }
}
