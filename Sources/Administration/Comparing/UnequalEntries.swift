import ResponseStorage

/// The entries of two stores that no entry of the other store equals in all of its bytes.
struct UnequalEntries {
  /// The ids in the first store, in ascending order.
  private(set) var first: [Int64] = []
  /// The ids in the second store, in ascending order.
  private(set) var second: [Int64] = []
  /// The number of pairs of equal entries.
  private(set) var equalCount: Int64 = 0

  /// Compares the entries of two stores by their digests; `nil` if a store has no digests.
  ///
  /// - Parameters:
  ///   - withBodies: Whether the bodies count.
  ///   - temporaryFolder: The folder for an unnamed file, which many entries need.
  init?(
    of first: any ResponseSource, and second: any ResponseSource, withBodies: Bool,
    temporaryFolder: String
  ) throws {
    guard
      var before = try Self.digests(of: first, withBodies, temporaryFolder, else: &self.first),
      var after = try Self.digests(of: second, withBodies, temporaryFolder, else: &self.second)
    else { return nil }
    var (old, new) = (try before.next(), try after.next())
    while old != nil || new != nil {
      if let old, let new, old.digest == new.digest {
        equalCount += 1
      } else if let entry = old, new.map({ entry.digest < $0.digest }) ?? true {
        self.first.append(entry.id)
        old = try before.next()
        continue
      } else if let entry = new {
        self.second.append(entry.id)
        new = try after.next()
        continue
      }
      (old, new) = (try before.next(), try after.next())
    }
    self.first.sort()
    self.second.sort()
  }

  /// Returns the sorted digests of a store, and adds the ids of entries without one to `rest`; `nil` if the store has no
  /// digests.
  private static func digests(
    of source: any ResponseSource, _ withBodies: Bool, _ temporaryFolder: String,
    else rest: inout [Int64]
  ) throws -> MergedDigests? {
    var sorted = SortedDigests(temporaryFolder: temporaryFolder)
    var others: [Int64] = []
    let hasDigests = try source.forEachDigest(includingBodies: withBodies) { entry in
      if let digest = entry.digest {
        try sorted.append(.init(digest: digest, id: entry.id))
      } else {
        others.append(entry.id)
      }
    }
    rest = others
    return hasDigests ? try sorted.merged() : nil
  }
}
