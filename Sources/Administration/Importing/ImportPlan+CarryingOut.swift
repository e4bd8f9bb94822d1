import Bytes
public import ResponseArchives
public import ResponseStorage

/// The result of an import.
public struct ImportResult: Hashable, Sendable {
  /// The numbers of the entries that were not imported because the cache had changed since the plan was made.
  public var changed: Set<Int64> = []

  /// Creates the result of a complete import.
  public init() {}
}

extension ImportPlan {
  /// Imports the planned entries into a cache.
  ///
  /// Body files are first written under temporary names. They are synced to disk before the transaction that inserts
  /// all rows is committed, or before all files get their final names. If another process has the cache open, they are
  /// written and synced even before the transaction begins, because that process waits during it. An error before the
  /// commit leaves the cache unchanged.
  ///
  /// - Parameter shouldStop: Called before each entry; `true` cancels the whole import.
  /// - Throws: ``ResponseArchiveError``, ``StoreError``, ``ImportInterruption``.
  public func carryOut(
    from archive: any ResponseArchive, in store: any ResponseStore, unless shouldStop: () -> Bool
  ) throws -> ImportResult {
    var staged: [Int64: ByteString] = [:]
    func stage(_ entry: Entry, _ raw: RawResponse) throws {
      if let name = try store.stage(raw) { staged[entry.number] = name }
    }
    do {
      // CFNetwork gives up on a lock after one second. So no time that grows with the size of
      // bodies may be spent while the transaction holds the lock.
      if store.inUse {
        try forEachWritten(of: archive, unless: shouldStop, stage)
        try store.synchronizeStaged(staged.values.sorted())
      }
      var result = ImportResult()
      try store.insert { insertion in
        try forEachWritten(of: archive, unless: shouldStop) { entry, raw in
          if !store.inUse { try stage(entry, raw) }
          let isIn = try insertion.insert(
            raw, staged: staged[entry.number], replacing: replaced[entry.number])
          if !isIn { result.changed.insert(entry.number) }
        }
        // If the store is in use, they are on disk already.
        return store.inUse ? [] : staged.values.sorted()
      }
      store.removeStaged(result.changed.compactMap { staged[$0] })
      return result
    } catch {
      store.removeStaged(Array(staged.values))
      throw error
    }
  }

  /// Reads the archive again, for the entries to import.
  private func forEachWritten(
    of archive: any ResponseArchive, unless shouldStop: () -> Bool,
    _ body: (Entry, RawResponse) throws -> Void
  ) throws {
    guard let last = lastWritten else { return }
    var rest = entries[...]
    var number: Int64 = 0
    // The plan has verified all digests. A body that is imported is verified once more as it is
    // read.
    try archive.forEachEntry(verifyingBodies: false) { raw in
      if shouldStop() { throw ImportInterruption() }
      number += 1
      // Not right after the last entry to import: its body is verified when the next entry is read.
      if number > last { return .stop }
      guard let entry = rest.first, entry.number == number else { return .next }
      rest.removeFirst()
      if entry.isWritten { try body(entry, rewriting.applied(to: raw)) }
      // The next entry of a damaged archive may be the damaged one; the plan has verified this one, too.
      return damage != nil && number == archivedEntries ? .stop : .next
    }
    // The pass may have stopped before it could compare all of the archive with what the plan has seen.
    try archive.finish()
  }
}

/// An import that was cancelled before anything was changed.
public struct ImportInterruption: Error, Hashable, Sendable {}
