public import Bytes
public import Files
public import ResponseStorage

/// What is to be done to the side files of a folder, decided before anything is.
public struct SidecarPlan {
  /// A side file that is to go.
  struct Removal: Sendable {
    let sidecar: Sidecar
    /// The entries that it goes with; it stays if one of them does. None if its response is gone already.
    let owners: [StoredResponse.ID]
  }

  /// A side file that is to be made.
  struct Addition: Sendable {
    let name: ByteString
    let tag: ByteString
    let owner: StoredResponse.ID
  }

  /// What is to go, in ascending order of the names.
  var removals: [Removal] = []
  /// What is to be made, in ascending order of the names.
  var additions: [Addition] = []
  /// How the files that are to be made are named.
  public internal(set) var naming: SidecarNaming?

  /// Plans nothing.
  public init() {}

  /// Plans to remove the side files of entries that are to be removed, if no other entry has the same URL.
  ///
  /// - Complexity: O(*n*), where *n* is the number of entries; memory grows with the number of side files.
  public init(
    removingWith entries: [RemovalPlan.Entry], in folder: SidecarFolder,
    of source: any ResponseSource
  ) throws {
    guard !entries.isEmpty, !folder.files.isEmpty else { return }
    var owners = SidecarOwners()
    try source.scan(SidecarOwners.projection) { response in
      owners.insert(response, in: folder)
      return .next
    }
    removals = owners.removals(with: entries, in: folder)
  }

  /// Whether nothing is to be done.
  public var isEmpty: Bool { removals.isEmpty && additions.isEmpty }

  /// Leaves out what was planned to be made, and would not be any more: by a plan that was made since.
  ///
  /// - Returns: How many are left out.
  public mutating func dropAdditions(missingIn current: SidecarPlan) -> Int {
    let tags = Dictionary(uniqueKeysWithValues: current.additions.map { ($0.name, $0.tag) })
    let count = additions.count
    additions.removeAll { tags[$0.name] != $0.tag }
    return count - additions.count
  }

  /// Whether files are to be made.
  public var makesFiles: Bool { !additions.isEmpty }

  /// What would be done, if all entries that are to go do.
  public var preview: SidecarChanges {
    SidecarChanges(removed: removals.map(\.sidecar.name), written: additions.map(\.name))
  }

  /// Does what is planned, once the entries are gone.
  ///
  /// - Parameters:
  ///   - removed: The entries that are gone.
  ///   - changes: What was done, also if it ends with an error.
  /// - Throws: `FileError` if a file can be neither removed nor written.
  public func carryOut(
    in folder: SidecarFolder, with removed: [RemovalPlan.Entry], into changes: inout SidecarChanges
  ) throws(FileError) {
    let removed = Set(removed.map(\.version.id))
    for removal in removals {
      guard removed.isSuperset(of: removal.owners), try folder.remove(removal.sidecar) else {
        changes.skipped += 1
        continue
      }
      changes.removed.append(removal.sidecar.name)
    }
    for addition in additions {
      guard !removed.contains(addition.owner),
        try folder.create(addition.name, holding: addition.tag)
      else {
        changes.skipped += 1
        continue
      }
      changes.written.append(addition.name)
    }
  }
}

/// What was done to the side files of a folder, or would be.
public struct SidecarChanges: Hashable, Sendable {
  /// The names of those that were removed, in ascending order.
  public var removed: [ByteString] = []
  /// The names of those that were written, in ascending order.
  public var written: [ByteString] = []
  /// The number of those that had changed meanwhile, or whose entry stayed.
  public var skipped = 0

  /// Creates changes.
  public init(removed: [ByteString] = [], written: [ByteString] = []) {
    (self.removed, self.written) = (removed, written)
  }

  /// Whether nothing was done.
  public var isEmpty: Bool { removed.isEmpty && written.isEmpty }
}

/// Which entries the side files of a folder belong to.
struct SidecarOwners {
  /// What has to be decoded of each response.
  static let projection: Projection = [.url, .key, .requestDetails]

  /// The entries of each side file that has any.
  private(set) var ids: [ByteString: [StoredResponse.ID]] = [:]
  /// How many URLs have a side file that is named in a way.
  private(set) var counts: [SidecarNaming: Int] = [:]

  /// The URLs that an app may have made the name of a side file from: that of the request, and that of the response.
  static func urls(of response: borrowing StoredResponse) -> [ByteString] {
    let requested = response.requestedURL
    return [requested, response.url == requested ? nil : response.url].compactMap { $0 }
  }

  /// Notes which side files belong to an entry.
  ///
  /// - Returns: The side file that an app looks up for it, which is that of the URL of the request.
  @discardableResult
  mutating func insert(
    _ response: borrowing StoredResponse, in folder: SidecarFolder
  ) -> Sidecar? {
    var first: Sidecar?
    for url in Self.urls(of: response) {
      for name in SidecarNaming.names(of: url) {
        guard let sidecar = folder.files[name.text] else { continue }
        ids[name.text, default: []].append(response.id)
        counts[name.naming, default: 0] += 1
        first = first ?? sidecar
      }
    }
    return first
  }

  /// The side files that only belong to entries that are to be removed.
  func removals(
    with entries: [RemovalPlan.Entry], in folder: SidecarFolder
  ) -> [SidecarPlan.Removal] {
    let removed = Set(entries.map(\.version.id))
    return ids.compactMap { name, owners in
      guard let sidecar = folder.files[name], sidecar.tag != nil, removed.isSuperset(of: owners)
      else { return nil }
      return SidecarPlan.Removal(sidecar: sidecar, owners: owners)
    }
    .sorted { $0.sidecar.name < $1.sidecar.name }
  }
}
