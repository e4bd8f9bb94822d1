import Bytes
public import ResponseArchives
public import ResponseStorage

/// What an import did.
public struct ImportResult: Hashable, Sendable {
  /// The numbers of the entries that were not put in, as the cache had changed since the plan was made.
  public var changed: Set<Int64> = []

  /// Creates the result of an import that did all it was to do.
  public init() {}
}

extension ImportPlan {
  /// Puts into a cache what the plan says.
  ///
  /// What has files of its own is written to some that nothing names, and is on the disk before the one
  /// transaction ends that all rows are written in, or before all files get their names. Beside another
  /// process it is so even before the transaction begins, as that one waits meanwhile. An error before that
  /// leaves the cache as it was.
  ///
  /// - Parameter shouldStop: Asked before each entry whether to leave all undone.
  /// - Throws: ``ResponseArchiveError``, ``StoreError``, ``ImportInterruption``.
  public func carryOut(
    from archive: any ResponseArchive, in store: any ResponseStore, unless shouldStop: () -> Bool
  ) throws -> ImportResult {
    var staged: [Int64: ByteString] = [:]
    func stage(_ entry: Entry, _ raw: RawResponse) throws {
      if let name = try store.stage(raw) { staged[entry.number] = name }
    }
    func synchronize() throws { try store.synchronizeStaged(staged.values.sorted()) }
    do {
      if store.inUse {
        try forEachWritten(of: archive, unless: shouldStop, stage)
        try synchronize()
      }
      var result = ImportResult()
      try store.insert { insertion in
        try forEachWritten(of: archive, unless: shouldStop) { entry, raw in
          if !store.inUse { try stage(entry, raw) }
          let isIn = try insertion.insert(
            raw, staged: staged[entry.number], replacing: entry.replaced)
          if !isIn { result.changed.insert(entry.number) }
        }
        if !store.inUse { try synchronize() }
      }
      store.removeStaged(result.changed.compactMap { staged[$0] })
      return result
    } catch {
      store.removeStaged(Array(staged.values))
      throw error
    }
  }

  /// Reads the archive again, for the entries that are put into the cache.
  private func forEachWritten(
    of archive: any ResponseArchive, unless shouldStop: () -> Bool,
    _ body: (Entry, RawResponse) throws -> Void
  ) throws {
    var rest = entries[...]
    var number: Int64 = 0
    try archive.forEachEntry(verifyingBodies: false) { raw in
      if shouldStop() { throw ImportInterruption() }
      // Of a damaged archive nothing is read beyond what was whole.
      if damage != nil, rest.isEmpty { return .stop }
      number += 1
      guard let entry = rest.first, entry.number == number else { return .next }
      rest.removeFirst()
      if entry.isWritten { try body(entry, rewriting.applied(to: raw)) }
      return damage != nil && rest.isEmpty ? .stop : .next
    }
  }
}

/// An import that was given up before anything was done.
public struct ImportInterruption: Error, Hashable, Sendable {}
