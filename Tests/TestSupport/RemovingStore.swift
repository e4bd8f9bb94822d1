public import Bytes
public import ResponseStorage

/// A store whose only supported change is removing responses.
public protocol RemovingStore: ResponseStore {}

extension RemovingStore {
  public func remove(
    orphans: [OrphanFile], into removal: inout Removal, unless shouldStop: () -> Bool
  ) throws(StoreError) {}

  public func compact(
    fully: Bool, unless shouldStop: () -> Bool
  ) throws(StoreError) -> CompactionMethod { .none }

  public var inUse: Bool { false }

  public func stage(_ response: RawResponse) -> ByteString? { nil }

  public func synchronizeStaged(_ names: [ByteString]) throws(StoreError) {}

  public func removeStaged(_ names: [ByteString]) {}

  public func insert(_ body: (any RawResponseInsertion) throws -> [ByteString]) throws {
    throw StoreError(.unsupported, at: "memory")
  }

  public func change(
    _ changes: [UserInfoChange], into changed: inout Set<StoredResponse.ID>,
    unless shouldStop: () -> Bool
  ) throws(StoreError) { throw StoreError(.unsupported, at: "memory") }
}
