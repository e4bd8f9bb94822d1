public import Bytes

/// A value of a TOML document, with its place.
public struct TOMLValue: Hashable, Sendable {
  /// What the value is.
  public enum Content: Hashable, Sendable {
    case text(String)
    case integer(Int64)
    case boolean(Bool)
    case array([TOMLValue])
    case table(TOMLTable)
  }

  /// What the value is.
  public let content: Content
  /// Where it is, in bytes from the beginning of the document; of a table with a header that header.
  public let range: Range<Int>
}

/// A table of a TOML document.
public struct TOMLTable: Hashable, Sendable {
  /// A key with its value.
  public struct Member: Hashable, Sendable {
    /// The key.
    public let key: ByteString
    /// Where the key is that the member begins with, in bytes from the beginning of the document.
    public let range: Range<Int>
    /// The value.
    public let value: TOMLValue
  }

  /// The members, in the order in which they are first named; no key comes twice.
  public let members: [Member]
}

/// What is wrong with a document, and where.
public struct TOMLError: Error, Hashable, Sendable {
  /// What is wrong: a clause.
  public let reason: String
  /// Where, in bytes from the beginning of the document.
  public let range: Range<Int>

  init(_ reason: String, at range: Range<Int>) {
    (self.reason, self.range) = (reason, range)
  }
}
