public import Bytes
public import ResponseStorage

/// A change of an entry, as seen from one look at the cache to the next.
public struct EntryChange: Sendable {
  /// The kinds of change.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// There was no entry with this key.
    case added
    /// There was an entry with this key.
    case replaced
    /// There is no entry with this key any more.
    case removed
  }

  /// The kind of change.
  public let kind: Kind
  /// The id; of a removed entry, the one that it had.
  public let id: StoredResponse.ID
  /// The URL; `nil` if it is unknown.
  public let url: ByteString?
  /// The size of the body; `nil` if it is unknown.
  public let size: ByteCount?
  /// The id of the replaced entry; `nil` unless one was replaced.
  public let previousID: StoredResponse.ID?
  /// The size of the body of the replaced entry; `nil` if it is unknown.
  public let previousSize: ByteCount?
  /// The entry; `nil` if it was removed.
  public let response: StoredResponse?
  /// Whether the entry meets the condition that is waited for.
  public let isAwaited: Bool
}
