public import Bytes
import ResponseArchives
public import ResponseStorage

extension ImportPlan {
  /// What happens to an entry of the archive.
  public enum Action: String, Hashable, Sendable, CaseIterable {
    /// The cache has no entry with its key.
    case add
    /// It replaces the entry with the same key.
    case replace
    /// The cache already has it, with the same contents.
    case unchanged
    /// The cache has a different entry with the same key, which is kept.
    case skip
    /// It is too incomplete for a cache.
    case reject
    /// Its method is not GET, and only GET is wanted.
    case otherMethod = "other-method"
    /// Its body could not be recovered, so an app could not use it.
    case lostBody = "lost-body"

    /// Whether the entry is imported.
    var isWritten: Bool { self == .add || self == .replace }
  }

  /// A selected entry of the archive.
  public struct Entry: Hashable, Sendable {
    /// The position in the archive, starting at 1.
    public var number: Int64
    /// Its URL.
    public var url: ByteString?
    /// The size of the body in bytes; `nil` if there is no body.
    public var size: ByteCount?
    /// What happens to it.
    public var action: Action
    /// Why it is rejected, or skipped for another entry of the archive: a clause.
    public var reason: String?
    /// The parts that the cache cannot store.
    public var losses: [ResponseLoss] = []
    /// The time at which it was last stored, according to the archive.
    var archived: Timestamp?
    /// Its key in the cache; `nil` if it has none.
    var key: TextDigest?
    /// The response that the cache has for its key.
    var standing: ResponseVersion?

    /// Whether the entry is imported.
    public var isWritten: Bool { action.isWritten }

    /// The response that it replaces.
    var replaced: ResponseVersion? { action == .replace ? standing : nil }

    /// Whether it is skipped for another entry of the archive.
    var isDuplicate: Bool { action == .skip && reason != nil }
  }
}
