import Bytes
import HTTPCaching
import Matching
import ResponseArchives
import ResponseStorage

/// The body of a response as text: with its content coding undone, and in UTF-8.
struct BodyText {
  /// What a body is decoded from: its header fields.
  static let projection: Projection = .responseHeaders

  /// The maximum size of a decoded body, in bytes. A small hostile body could decode to any size.
  static let limit = ByteCount(1 << 30)

  /// The encoding that the header fields state, if it is known.
  private let stated: TextEncoding?

  init(of response: borrowing StoredResponse) {
    stated =
      response.responseHeaders?.firstValue(named: "content-type").flatMap {
        MediaTypeParameter.value(named: "charset", in: $0)
      }
      .flatMap { TextEncoding(named: $0) }
  }

  init(encoding: TextEncoding?) { stated = encoding }

  /// Calls `body` with the text, in pieces.
  ///
  /// - Throws: ``BodyDecodingError`` if the body cannot be decoded, after passing on some of it; or any error of
  ///   reading or of `body`.
  func forEachPiece(
    of reader: inout BodyReader, _ body: (ArraySlice<UInt8>) throws -> Void
  ) throws {
    var decoder: TextDecoder?
    var text: [UInt8] = []
    _ = try reader.forEachDecodedChunk(limit: Self.limit) { chunk in
      // A byte order mark is more often right than a header field (RFC 3629 §6, and browsers).
      var current =
        decoder ?? TextDecoder(TextEncoding(ofTextBeginningWith: chunk) ?? stated ?? .utf8)
      decoder = nil
      defer { decoder = current }
      if current.isDone { return try body(chunk) }
      text.removeAll(keepingCapacity: true)
      current.decode(chunk, into: &text)
      if !text.isEmpty { try body(text[...]) }
    }
    text.removeAll(keepingCapacity: true)
    decoder?.finish(into: &text)
    if !text.isEmpty { try body(text[...]) }
  }
}

/// The parameters of media types (RFC 9110 §8.3.1).
enum MediaTypeParameter {
  /// Returns the value of a parameter, in any case of its name, without quotation marks; `nil` if there is none.
  static func value(named name: StaticString, in type: ByteString) -> ByteString? {
    let name = ByteString(stringLiteral: name)
    for part in type.bytes.split(separator: UInt8(ascii: ";")).dropFirst() {
      let parts = part.split(separator: UInt8(ascii: "="), maxSplits: 1)
      guard parts.count == 2,
        ByteString(Array(parts[0].trimmingBlanks)).equalsIgnoringASCIICase(name)
      else { continue }
      let value = parts[1].trimmingBlanks
      // No name of an encoding needs an escape within the quotation marks.
      return ByteString(value.filter { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "'") })
    }
    return nil
  }
}
