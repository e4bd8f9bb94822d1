import Bytes
import HTTPCaching
import Matching
import ResponseArchives
public import ResponseStorage

/// The body of a response as text: with its content coding undone, and in UTF-8.
public struct BodyText {
  /// What a body is decoded from: its header fields.
  public static let projection: Projection = .contentFields

  /// The maximum size of a decoded body, in bytes. A small hostile body could decode to any size.
  static let limit = ByteCount(1 << 30)

  /// The number of bytes at the beginning of a body that show whether it is text.
  private static let codedStart = 1 << 10

  /// The encoding that the header fields state, if it is known.
  private let stated: TextEncoding?
  /// The content coding that the header fields state, if it cannot be decoded.
  private var unknownCoding: String?

  /// The header fields, if they name content codings.
  private let codedHeaders: HeaderFields?

  /// The content codings that cannot be decoded. Caches store bodies without their coding, so these are hardly ever seen.
  private static let unknownCodings = ["compress", "dcb", "dcz"]

  /// Creates the text of the body of a response.
  ///
  /// - Parameter refusing: Whether a body with an unknown coding is an error; otherwise it is passed on as it is.
  public init(of response: borrowing StoredResponse, refusingUnknownCodings refusing: Bool = true) {
    stated =
      response.responseHeaders?.firstValue(named: "content-type").flatMap {
        MediaTypeParameter.value(named: "charset", in: $0)
      }
      .flatMap { TextEncoding(named: $0) }
    let coding = response.responseHeaders?.firstValue(named: "content-encoding")
    let unknown = coding.flatMap {
      let name = ByteString(Array($0.bytes[...].trimmingBlanks))
      return Self.unknownCodings.first { name.equalsIgnoringASCIICase(ByteString($0)) }
    }
    unknownCoding = refusing ? unknown : nil
    codedHeaders = coding == nil || unknown != nil ? nil : response.responseHeaders
  }

  init(encoding: TextEncoding?) { (stated, codedHeaders) = (encoding, nil) }

  /// Whether a body that begins with these bytes still has the coding that its header fields state.
  private func isCoded(_ start: ArraySlice<UInt8>) -> Bool {
    unknownCoding != nil && !BodyReader.hasKnownCoding(start) && !Self.isText(start)
  }

  /// Whether a body begins with UTF-8 text.
  private static func isText(_ start: ArraySlice<UInt8>) -> Bool {
    // Coded data is no text from its first bytes on.
    let bytes = Array(start.prefix(codedStart))
    var index = 0
    while index < bytes.count {
      let (scalar, length) = bytes.scalar(at: index)
      // The end may be within a character.
      if scalar == nil { return bytes.count - index <= 3 }
      index += length
    }
    return true
  }

  /// Calls `body` with the text, in pieces.
  ///
  /// - Throws: ``BodyDecodingError`` if the body cannot be decoded, after passing on some of it; ``UnknownCoding``; or
  ///   any error of reading or of `body`.
  public func forEachPiece(
    of reader: inout BodyReader, _ body: (ArraySlice<UInt8>) throws -> Void
  ) throws {
    var decoder: TextDecoder?
    var text: [UInt8] = []
    var isStart = true
    _ = try reader.forEachDecodedChunk(codedHeaders, limit: Self.limit) { chunk in
      if isStart, let unknownCoding, isCoded(chunk) { throw UnknownCoding(coding: unknownCoding) }
      isStart = false
      // A byte order mark is more often right than a header field (RFC 3629 §6, and browsers).
      var current =
        decoder ?? TextDecoder(TextEncoding(ofTextBeginningWith: chunk) ?? stated ?? .utf8)
      decoder = nil
      defer { decoder = current }
      if let piece = current.textInPlace(chunk) {
        if !piece.isEmpty { try body(piece) }
        return
      }
      text.removeAll(keepingCapacity: true)
      current.decode(chunk, into: &text)
      if !text.isEmpty { try body(text[...]) }
    }
    text.removeAll(keepingCapacity: true)
    decoder?.finish(into: &text)
    if !text.isEmpty { try body(text[...]) }
  }
}

/// An error for a body with a content coding that cannot be decoded.
public struct UnknownCoding: Error {
  /// The name of the coding.
  let coding: String
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

/// Which bodies of a cache contain which texts.
///
/// Bodies are read once, before any decision, because a decision about an entry has only its fields.
public struct BodyContents: Sendable {
  /// The ids of the entries whose bodies contain a text, by the text.
  private var found: [ByteString: Set<StoredResponse.ID>]
  /// The ids of the entries whose bodies could not be read to the end.
  private var unknown: Set<StoredResponse.ID> = []

  /// Searches the bodies of a cache.
  ///
  /// - Parameters:
  ///   - texts: The texts to find, none of which is empty.
  ///   - projection: What to decode for `isWanted`.
  ///   - isWanted: Whether the body of a response matters.
  /// - Throws: The error of a store that cannot be read, or any error of `isWanted`.
  init(
    of texts: Set<ByteString>, in source: any ResponseSource, _ projection: Projection,
    where isWanted: (borrowing StoredResponse) throws -> Bool
  ) throws {
    found = Dictionary(uniqueKeysWithValues: texts.map { ($0, []) })
    try source.scanWithBodies(projection.union(BodyText.projection)) { response, body in
      guard try isWanted(response) else { return .next }
      let id = response.id
      var searches = texts.map { PiecedSearch(LiteralSearch($0)) }
      do {
        let text = BodyText(of: response)
        let isThere = try body.read { reader in
          try text.forEachPiece(of: &reader) { piece in
            for index in searches.indices { searches[index].append(piece) }
            if searches.allSatisfy(\.isFound) { throw AllFound() }
          }
        }
        if !isThere { unknown.insert(id) }
      } catch is AllFound {
      } catch is BodyDecodingError {
        unknown.insert(id)
      } catch is UnknownCoding {
        unknown.insert(id)
      }
      for search in searches where search.isFound {
        found[search.search.text]?.insert(id)
      }
      return .next
    }
  }

  private struct AllFound: Error {}

  /// Whether the body of an entry contains a text; `nil` if it could not be read, or was not searched for the text.
  func contains(_ text: ByteString, _ id: StoredResponse.ID) -> Bool? {
    guard let ids = found[text] else { return nil }
    if ids.contains(id) { return true }
    return unknown.contains(id) ? nil : false
  }
}
