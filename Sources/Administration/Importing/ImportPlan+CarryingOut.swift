import Bytes
import Files
public import ResponseArchives
public import ResponseStorage

extension ImportPlan {
  /// Imports the planned entries into a cache.
  ///
  /// Body files are first written under temporary names. They are synced to disk before the transaction that inserts
  /// all rows is committed, or before all files get their final names. If another process has the cache open, they are
  /// written and synced even before the transaction begins, because that process waits during it. An error before the
  /// commit leaves the cache unchanged.
  ///
  /// - Parameter shouldStop: Called before each entry; `true` cancels the whole import.
  /// - Throws: ``ResponseArchiveError``, ``StoreError``, ``ImportInterruption``, or a `FileError` for the folder of
  ///   temporary files.
  public func carryOut(
    from archive: any ResponseArchive, in store: any ResponseStore, unless shouldStop: () -> Bool
  ) throws -> ImportResult {
    var staged: [Int64: ByteString] = [:]
    // A store may be found to be in use only when its lock is taken.
    let isStagedFirst = store.mayBeInUse
    func stage(_ entry: Entry, _ raw: RawResponse) throws {
      if staged[entry.number] == nil, let name = try store.stage(raw) {
        staged[entry.number] = name
      }
    }
    do {
      // CFNetwork gives up on a lock after one second. So no time that grows with the size of
      // bodies may be spent while the transaction holds the lock.
      if isStagedFirst {
        try forEachWritten(of: archive, unless: shouldStop, stage)
        try store.synchronizeStaged(staged.values.sorted())
      }
      var unneeded: [ByteString] = []
      // Complete before the commit, after which no error may be thrown.
      var result = ImportResult()
      try store.insert { insertion in
        var changed = SpooledList<ImportResult.Entry>.Writer(in: temporaryFolder)
        unneeded = []
        try forEachWritten(of: archive, unless: shouldStop) { entry, raw in
          if !isStagedFirst { try stage(entry, raw) }
          let name = staged[entry.number]
          if try insertion.insert(raw, staged: name, replacing: entry.replaced) { return }
          try changed.append(.init(number: entry.number))
          if let name { unneeded.append(name) }
        }
        result = ImportResult(try changed.finish())
        // Those that were staged first are on disk already.
        return isStagedFirst ? [] : staged.values.sorted()
      }
      store.removeStaged(unneeded)
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
    var rest = try entries.makeReader()
    var next = try rest.next()
    var number: Int64 = 0
    // The plan has verified all digests. A body that is imported is verified once more as it is
    // read.
    try archive.forEachEntry(verifyingBodies: false) { raw in
      if shouldStop() { throw ImportInterruption() }
      number += 1
      // Not right after the last entry to import: its body is verified when the next entry is read.
      if number > last { return .stop }
      guard let entry = next, entry.number == number else { return .next }
      next = try rest.next()
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
