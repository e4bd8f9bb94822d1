public import Bytes
public import Files

/// A store that is open for changes: responses can be removed, and raw responses inserted.
///
/// A ``ResponseSource`` gives no way to change the store.
public protocol ResponseStore {
  /// Removes responses, with their bodies.
  ///
  /// Responses are removed in batches. However the process ends, a batch is removed completely or not at
  /// all; where each response is a file, a batch is one file. Responses that were stored again since they
  /// were read are kept, and so is everything else.
  ///
  /// - Parameters:
  ///   - responses: The responses to remove, in ascending order of ids. There may be millions, so each is read only
  ///     once, when its batch is removed.
  ///   - removal: Receives what was done, even if an error is thrown.
  ///   - shouldStop: Returns whether to stop; called between batches.
  func remove(
    _ responses: inout some IteratorProtocol<ResponseVersion>, into removal: inout Removal,
    unless shouldStop: () -> Bool
  ) throws(StoreError)

  /// Removes body files to which no response refers.
  ///
  /// A file is kept if it has changed since it was read, or if a response refers to it by now. No process
  /// can write to the store between this check and the removal.
  ///
  /// - Parameters:
  ///   - orphans: The files to remove, sorted by name.
  ///   - removal: Receives what was done, even if an error is thrown.
  ///   - shouldStop: Returns whether to stop; called between batches.
  func remove(
    orphans: [OrphanFile], into removal: inout Removal, unless shouldStop: () -> Bool
  ) throws(StoreError)

  /// Returns free space inside the store to the file system.
  ///
  /// While another process has the store open, this is done in slices only, between which that process can
  /// write. The log then shrinks at a checkpoint of that process.
  ///
  /// - Parameters:
  ///   - fully: Whether to rewrite the store even if slices are enough.
  ///   - shouldStop: Returns whether to stop; called between slices.
  /// - Throws: ``StoreError``, `inUse` for `fully` while another process has the store open.
  func compact(
    fully: Bool, unless shouldStop: () -> Bool
  ) throws(StoreError) -> CompactionMethod

  /// From now on, overwrites files with zeros before it removes them.
  func overwriteRemovedFiles() throws(StoreError)

  /// Overwrites what removed responses left in logs, in free space, and in the gaps between responses.
  ///
  /// While another process has the store open, only as much is done as does not block that process.
  ///
  /// - Parameters:
  ///   - fully: Whether to rewrite the store as well; otherwise only the log is overwritten, which must be done before
  ///     the store is closed.
  ///   - shouldStop: Returns whether to stop.
  /// - Returns: Whether everything was overwritten.
  func erase(fully: Bool, unless shouldStop: () -> Bool) throws(StoreError) -> Bool

  /// Whether another process had the store open when it was opened here; `false` for stores without locks.
  var inUse: Bool { get }

  /// Whether another process may wait for each change: it has the store open, or could have it open without showing that.
  var mayBeInUse: Bool { get }

  /// Writes what the store keeps of a response in a file, under a temporary name.
  ///
  /// - Returns: The name of the file; `nil` if the store keeps no file for the response.
  func stage(_ response: RawResponse) throws -> ByteString?

  /// Waits until staged files and their names are on disk.
  func synchronizeStaged(_ names: [ByteString]) throws(StoreError)

  /// Removes staged files that are not needed after all.
  func removeStaged(_ names: [ByteString])

  /// Inserts responses.
  ///
  /// An Apple store inserts all of them or none. A Foundation store inserts each as a whole, one after the other
  /// once `body` returns; if the process ends meanwhile, the rest are not inserted.
  ///
  /// - Parameter body: Inserts responses one by one, and returns the names of the staged files that still have to be
  ///   synced, as ``synchronizeStaged(_:)`` does, before the store refers to them. If it throws, the store does not change.
  ///   Called again if everything that it has inserted had to be undone.
  func insert(_ body: (any RawResponseInsertion) throws -> [ByteString]) throws

  /// Changes user info in batches, each of which is changed completely or not at all, however the process ends.
  ///
  /// - Parameters:
  ///   - changes: The changes. User info that differs from its old value in the change is kept.
  ///   - changed: Receives the ids of changed responses, even if an error is thrown.
  ///   - shouldStop: Returns whether to stop; called between batches.
  /// - Throws: ``StoreError``, `unsupported` if the store does not keep user info separately.
  func change(
    _ changes: [UserInfoChange], into changed: inout Set<StoredResponse.ID>,
    unless shouldStop: () -> Bool
  ) throws(StoreError)
}

extension ResponseStore {
  /// Removes responses, with their bodies.
  ///
  /// - Parameters:
  ///   - responses: The responses to remove, in ascending order of ids.
  ///   - removal: Receives what was done, even if an error is thrown.
  ///   - shouldStop: Returns whether to stop; called between batches.
  public func remove(
    _ responses: some Sequence<ResponseVersion>, into removal: inout Removal,
    unless shouldStop: () -> Bool
  ) throws(StoreError) {
    var responses = responses.makeIterator()
    try remove(&responses, into: &removal, unless: shouldStop)
  }
}

extension IteratorProtocol {
  /// Returns the next elements; fewer at the end.
  mutating func next(_ count: Int) -> [Element] {
    var elements: [Element] = []
    while elements.count < count, let element = next() { elements.append(element) }
    return elements
  }
}

// Defaults for stores without files.
extension ResponseStore {
  public var mayBeInUse: Bool { inUse }

  public func overwriteRemovedFiles() throws(StoreError) {}

  public func erase(fully: Bool, unless shouldStop: () -> Bool) throws(StoreError) -> Bool { true }
}

/// An insertion of responses.
public protocol RawResponseInsertion {
  /// Inserts a response.
  ///
  /// It keeps its id if the store has ids, and if no other response uses it.
  ///
  /// - Parameters:
  ///   - response: The response. A part that is staged is not read.
  ///   - staged: The name of its staged file, if it has one.
  ///   - replaced: The response that it replaces; `nil` if the store must have none with its key.
  /// - Returns: Whether it was inserted; `false` if the store now has another response with its key than
  ///   `replaced`.
  func insert(
    _ response: RawResponse, staged: ByteString?, replacing replaced: ResponseVersion?
  ) throws -> Bool
}

/// How free space inside a store was returned.
public enum CompactionMethod: String, Hashable, Sendable, CaseIterable {
  /// There was nothing to return, or no way to.
  case none
  /// In short slices.
  case slices
  /// By rewriting the store.
  case rewrite
}

/// The state of a response when it was read.
public struct ResponseVersion: Hashable, Sendable {
  /// The id of the response in its store.
  public var id: StoredResponse.ID

  /// The key of the response. A store never gives its id to a response with another key.
  public var key: ByteString?

  /// When the response was last stored or refreshed; `nil` if that is not known.
  public var stored: Timestamp?

  /// The file of the response, if the store keeps each response in a file.
  public var file: FileVersion?

  /// Creates a version.
  public init(
    id: StoredResponse.ID, key: ByteString?, stored: Timestamp?, file: FileVersion? = nil
  ) {
    self.id = id
    self.key = key
    self.stored = stored
    self.file = file
  }
}

/// The result of removing responses or orphans from a store.
public struct Removal: Hashable, Sendable {
  /// The ids of the responses that were kept because they had changed or were already removed, in
  /// ascending order.
  public var skipped: [StoredResponse.ID] = []

  /// The number of responses that were processed, from the start; the rest were not because the removal
  /// was stopped.
  public var visited = 0

  /// The names of the orphans that were kept, sorted.
  public var skippedOrphans: [String] = []

  /// The number of orphans that were processed, from the start.
  public var visitedOrphans = 0

  /// The total length of the removed files.
  public var returnedBytes: ByteCount = 0

  /// The length of those of them that have other names (hard links), so that no space is freed.
  public var linkedBytes: ByteCount = 0

  /// The number of body files that no response refers to any more and that could not be removed.
  public var orphanedFiles = 0

  /// The number of body files that stay although their responses were removed, because another database in the folder refers
  /// to them, or may do so.
  public var keptFiles = 0

  /// The number of removed files that were not overwritten, because they have other names (hard links).
  public var linkedFiles = 0

  /// The files in which the app has listed entries, perhaps also removed ones, with URLs and header fields.
  public var listings: [String] = []

  /// Creates an empty result.
  public init() {}

  /// Counts a file that was removed; `nil` if there was none.
  mutating func countFile(_ file: FileStatus?) {
    guard let file else { return }
    returnedBytes += file.size
    if file.linkCount > 1 { linkedBytes += file.size }
  }
}

/// What several threads do with entries and their bodies.
public protocol EntryWork: Sendable {
  /// A part of the results, which is passed on before the end of a batch if there are many.
  associatedtype Part: Sendable
  /// The rest of the results of a batch.
  associatedtype Summary: Sendable

  /// Works on an entry.
  ///
  /// - Parameter send: Passes on a part of the results, with about how many bytes it takes.
  /// - Throws: The error of a store that cannot be read, or any error of `send`.
  mutating func process(
    _ response: borrowing StoredResponse, _ body: ScannedBody,
    _ send: (Part, Int) throws -> Void
  ) throws

  /// Ends a batch of entries, and returns the rest of its results.
  mutating func endBatch(_ send: (Part, Int) throws -> Void) throws -> Summary
}

/// A result of work on entries.
public typealias EntryWorkResult<Work: EntryWork> = BatchResult<Work.Part, Work.Summary>
