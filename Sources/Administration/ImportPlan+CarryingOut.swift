public import ResponseStorage

/// What an import did.
public struct ImportResult: Hashable, Sendable {
  /// The numbers of the entries that were not put in, as the cache had changed since the plan was made.
  public var changed: Set<Int64> = []

  /// Creates the result of an import that did all it was to do.
  public init() {}
}

extension ImportPlan {
  /// Larger bodies are put into files wherever they were, as no row can hold them at once.
  private static let largestRowBody: Int64 = 16 << 20

  /// The size from which on CFNetwork puts bodies into files, for those of older stores.
  private static let fileThreshold: Int64 = 4_096

  /// Puts into a cache what the plan says.
  ///
  /// Bodies go into files that nothing names, then onto the disk, and only then all rows in one
  /// transaction. An error leaves the cache as it was.
  ///
  /// - Parameter shouldStop: Asked before each entry whether to leave all undone.
  /// - Throws: ``NativeArchiveError``, ``StoreError``, ``ImportInterruption``.
  public func carryOut(
    from archive: ArchiveSource, in store: any RawResponseStore, unless shouldStop: () -> Bool
  ) throws -> ImportResult {
    var staged: [Int64: ByteString] = [:]
    do {
      try forEachWritten(of: archive, unless: shouldStop) { entry, raw in
        if Self.belongsIntoFile(raw) { staged[entry.number] = try stage(raw, in: store) }
      }
      try store.synchronizeStagedBodies(staged.values.sorted())
      var result = ImportResult()
      try store.insert { insertion in
        try forEachWritten(of: archive, unless: shouldStop) { entry, raw in
          let isIn = try insertion.insert(
            raw, stagedBody: staged[entry.number], replacing: entry.replaced)
          if !isIn { result.changed.insert(entry.number) }
        }
      }
      store.removeStagedBodies(result.changed.compactMap { staged[$0] })
      return result
    } catch {
      store.removeStagedBodies(Array(staged.values))
      throw error
    }
  }

  /// Reads the archive again, for the entries that are put into the cache.
  private func forEachWritten(
    of archive: ArchiveSource, unless shouldStop: () -> Bool,
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
      if entry.isWritten { try body(entry, raw) }
      return damage != nil && rest.isEmpty ? .stop : .next
    }
  }

  private static func belongsIntoFile(_ raw: RawResponse) -> Bool {
    guard let size = raw.bodySize else { return false }
    if raw.hasBodyFile || size > largestRowBody { return true }
    return raw.value(of: "isDataOnFS") == nil && size >= fileThreshold
  }

  private func stage(_ raw: RawResponse, in store: any RawResponseStore) throws -> ByteString {
    try store.stageBody { append in
      switch raw.part(.body)?.contents {
      case .bytes(let bytes): try append(bytes)
      case .stream(let stream):
        try stream.read { reader in
          var buffer = [UInt8](repeating: 0, count: 1 << 16)
          while case let count = try reader.read(into: &buffer), count > 0 {
            try append(Array(buffer[..<count]))
          }
        }
      case .null, nil: break
      }
    }
  }
}

/// An import that was given up before anything was done.
public struct ImportInterruption: Error, Hashable, Sendable {}
