public import Bytes
import PropertyLists

/// The keyed archive of a string, which apps use to keep an `ETag` outside of their cache.
public enum ETagArchive {
  /// Why a file is not an archive of an `ETag`.
  public struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason: a clause without text from the file.
    public let description: String
  }

  /// The longest archive, in bytes: the longest `ETag` in UTF-16, and much more than the rest needs.
  public static let maximumCount = 32 << 10

  /// The longest `ETag`, in bytes: more than servers accept in a header field.
  static let maximumTagCount = 8 << 10

  private static let limits = PropertyListLimits(
    // An archive of a string has about ten objects and three levels. The limits leave room for
    // other versions of the archiver, and bound what a hostile file can cost.
    maximumBytes: maximumCount, maximumDepth: 8, maximumVisits: 100,
    maximumDecodedBytes: maximumCount)

  /// Decodes an archive, which may be hostile.
  ///
  /// - Returns: The `ETag` as archived. The quotes of RFC 9110 §8.8.3 are not checked.
  /// - Throws: ``Refusal``, also if the text is not valid in a header field.
  public static func tag(in bytes: [UInt8]) throws(Refusal) -> ByteString {
    guard bytes.count <= maximumCount else {
      throw Refusal(description: "it is larger than \(maximumCount) bytes")
    }
    let text: [UInt8]?
    do throws(PropertyListError) {
      let list = try BinaryPropertyList(bytes.span, limits: limits)
      text = try KeyedArchive(list).rootText()
    } catch {
      throw Refusal(description: "it is not a readable keyed archive")
    }
    // A null object is archived as this text.
    guard let text, text != Array("$null".utf8) else {
      throw Refusal(description: "it does not contain a string")
    }
    guard !text.isEmpty else { throw Refusal(description: "its string is empty") }
    guard text.count <= maximumTagCount else {
      throw Refusal(description: "its string is longer than \(maximumTagCount) bytes")
    }
    // The app sends the text in `If-None-Match`, where a line end would add header fields to its
    // request.
    guard text.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw Refusal(
        description: "its string contains control characters, which header fields cannot contain")
    }
    return ByteString(text)
  }

  /// Returns the archive that `NSKeyedArchiver` creates for a string.
  ///
  /// - Returns: `nil` if ``tag(in:)`` would not return the same `ETag`, for example if it is not UTF-8.
  public static func bytes(of tag: ByteString) -> [UInt8]? {
    var writer = KeyedArchiveWriter()
    let text = writer.add(.string(tag.bytes))
    let bytes = writer.bytes(root: text)
    // Reading back what was just written finds any `ETag` that the archive would change, whatever
    // the reason.
    guard let read = try? Self.tag(in: bytes), read == tag else { return nil }
    return bytes
  }
}
