import Bytes
import Matching
import ResponseArchives
import ResponseStorage

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
