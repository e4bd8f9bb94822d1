public import Bytes

/// A store that is open for changing: responses can be removed from it, and put into it as they were in another.
///
/// Whoever holds one may change the store; a ``ResponseSource`` gives no way to it.
public protocol ResponseStore {
  /// Removes responses, with their bodies.
  ///
  /// They go in batches, each of which is there or gone as a whole, whatever ends the process; where a
  /// response is a file, a batch is one of them. A response that was stored again since it was looked
  /// at stays, and so does everything else.
  ///
  /// - Parameters:
  ///   - responses: What to remove, in ascending order of the ids.
  ///   - order: In which order they may go.
  ///   - removal: What was done, also by a removal that ends with an error.
  ///   - shouldStop: Asked between batches whether to leave the rest.
  func remove<Versions: RandomAccessCollection<ResponseVersion>>(
    _ responses: Versions, in order: RemovalOrder, into removal: inout Removal,
    unless shouldStop: () -> Bool
  ) throws(StoreError) where Versions.Index == Int

  /// Removes files of bodies that no response names.
  ///
  /// A file that has changed since it was looked at stays, and so does one that a response names by
  /// now. Nobody else writes to the store while that is told and the file removed.
  ///
  /// - Parameters:
  ///   - orphans: What to remove, in ascending order of the names.
  ///   - removal: What was done, also by a removal that ends with an error.
  ///   - shouldStop: Asked between batches whether to leave the rest.
  func remove(
    orphans: [OrphanFile], into removal: inout Removal, unless shouldStop: () -> Bool
  ) throws(StoreError)

  /// Gives what is free inside the store back to the file system.
  ///
  /// Beside another process that happens in slices only, between which it can write; the log then
  /// shrinks when that process sees to it.
  ///
  /// - Parameters:
  ///   - fully: Whether to rewrite the store even where slices would do.
  ///   - shouldStop: Asked between slices whether to leave the rest.
  /// - Throws: ``StoreError``, `inUse` for `fully` beside another process.
  func compact(
    fully: Bool, unless shouldStop: () -> Bool
  ) throws(StoreError) -> CompactionMethod

  /// Whether another process had the store open when it was opened here; `false` where none ever waits for
  /// another.
  var inUse: Bool { get }

  /// Writes what the store keeps of a response in a file of its own, under a name that means nothing yet.
  ///
  /// - Returns: The name of the file; `nil` if the store keeps no such file of the response.
  func stage(_ response: RawResponse) throws -> ByteString?

  /// Waits until staged files, and their names, are on the disk.
  func synchronizeStaged(_ names: [ByteString]) throws(StoreError)

  /// Removes staged files that are not needed after all.
  func removeStaged(_ names: [ByteString])

  /// Puts responses in.
  ///
  /// An Apple store takes all of them or none. In a Foundation store each comes as a whole, one after the
  /// other once `body` is done; whatever ends the process meanwhile leaves the rest out.
  ///
  /// - Parameter body: Puts responses in, one after the other; an error of it leaves the store as it was.
  func insert(_ body: (any RawResponseInsertion) throws -> Void) throws

  /// Changes user info, in batches of which each is done as a whole or not at all, whatever ends the process.
  ///
  /// - Parameters:
  ///   - changes: What to change; what is not as it was looked at stays.
  ///   - changed: What was changed, also by a change that ends with an error.
  ///   - shouldStop: Asked between batches whether to leave the rest.
  /// - Throws: ``StoreError``, `unsupported` if the store keeps no user info in a place of its own.
  func change(
    _ changes: [UserInfoChange], into changed: inout Set<StoredResponse.ID>,
    unless shouldStop: () -> Bool
  ) throws(StoreError)
}

/// The putting in of responses.
public protocol RawResponseInsertion {
  /// Puts a response in.
  ///
  /// It keeps its number if the store has numbers, and that one is free.
  ///
  /// - Parameters:
  ///   - response: The response; what is staged of it is not looked at.
  ///   - staged: The name of its staged file, if it has one.
  ///   - replaced: The response that it takes the place of; `nil` if there must be none of its key.
  /// - Returns: Whether it is in: not if the store has changed, so that it holds another response of the
  ///   key than it did.
  func insert(
    _ response: RawResponse, staged: ByteString?, replacing replaced: ResponseVersion?
  ) throws -> Bool
}

/// How what was free inside a store was given back.
public enum CompactionMethod: String, Hashable, Sendable, CaseIterable {
  /// There was nothing to give back, or no way to.
  case none
  /// In short slices, beside whoever has the store open.
  case slices
  /// By writing the store anew.
  case rewrite
}

/// A response as it was when it was looked at.
public struct ResponseVersion: Hashable, Sendable {
  /// What the store calls the response by.
  public var id: StoredResponse.ID

  /// What the response is looked up by; a store gives no id to another response.
  public var key: ByteString?

  /// When the response was last stored or refreshed; `nil` if that is not known.
  public var stored: Timestamp?

  /// The file that the response was, if the store keeps each in one.
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

/// What was removed from a store.
public struct Removal: Hashable, Sendable {
  /// The ids of the responses that were to be removed and stayed, as they had changed or were gone, in
  /// ascending order.
  public var skipped: [StoredResponse.ID] = []

  /// The number of responses that were looked at, from the first on; the rest was left as the
  /// removal was stopped.
  public var visited = 0

  /// The names of the orphans that were to be removed and stayed, in ascending order.
  public var skippedOrphans: [String] = []

  /// The number of orphans that were looked at, from the first on.
  public var visitedOrphans = 0

  /// The lengths of the files that are gone.
  public var returnedBytes: ByteCount = 0

  /// The body files that nothing names any more and that could not be removed.
  public var orphanedFiles = 0

  /// Creates the removal of nothing.
  public init() {}
}

/// In which order a store removes responses.
public enum RemovalOrder: Sendable {
  /// In that of their ids: another removal of the same responses leaves as many pages of a database free, whatever
  /// batches they go in.
  case ids

  /// In whichever is the fastest.
  case any
}
