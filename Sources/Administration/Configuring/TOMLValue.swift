public import Bytes

/// A value of a TOML document, with its place.
public struct TOMLValue: Hashable, Sendable {
  /// The content of a value.
  public enum Content: Hashable, Sendable {
    case text(String)
    case integer(Int64)
    case boolean(Bool)
    case array([TOMLValue])
    case table(TOMLTable)
  }

  /// The content.
  public let content: Content
  /// The range in the document, in bytes; for a table with a header, the range of the header.
  public let range: Range<Int>
}

/// A table of a TOML document.
public struct TOMLTable: Hashable, Sendable {
  /// A key with its value.
  public struct Member: Hashable, Sendable {
    /// The key.
    public let key: ByteString
    /// The range of the first key of the member in the document, in bytes.
    public let range: Range<Int>
    /// The value.
    public let value: TOMLValue
  }

  /// The members, in the order of first appearance; keys are unique.
  public let members: [Member]
}

/// An error in a document, with its position.
public struct TOMLError: Error, Hashable, Sendable {
  /// The error: a clause.
  public let reason: String
  /// The range in the document, in bytes.
  public let range: Range<Int>

  init(_ reason: String, at range: Range<Int>) {
    (self.reason, self.range) = (reason, range)
  }
}
