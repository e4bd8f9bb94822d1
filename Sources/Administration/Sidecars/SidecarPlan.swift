public import Bytes
public import Files
public import ResponseStorage

/// The changes to the sidecars of a folder, decided before any is made.
public struct SidecarPlan {
  /// A sidecar to remove.
  struct Removal: Sendable {
    let sidecar: Sidecar
    /// The entries that it belongs to; it is kept if one of them is. Empty if its entry is already removed.
    let owners: [StoredResponse.ID]
  }

  /// A sidecar to create.
  struct Addition: Sendable {
    let name: ByteString
    let tag: ByteString
    let owner: StoredResponse.ID
  }

  /// The sidecars to remove, in ascending order of names.
  var removals: [Removal] = []
  /// The sidecars to create, in ascending order of names.
  var additions: [Addition] = []
  /// The naming of the files to create.
  public internal(set) var naming: SidecarNaming?

  /// Creates an empty plan.
  public init() {}

  /// Plans to remove the sidecars of removed entries, unless another entry has the same URL.
  ///
  /// - Complexity: O(*n*), where *n* is the number of entries; memory grows with the number of sidecars.
  public init(
    removingWith entries: RemovalPlan.EntryList, in folder: SidecarFolder,
    of source: any ResponseSource
  ) throws {
    guard !entries.isEmpty, !folder.files.isEmpty else { return }
    var owners = SidecarOwners()
    try source.scan(SidecarOwners.projection) { response in
      owners.insert(response, in: folder)
      return .next
    }
    removals = try owners.removals(with: entries, in: folder)
  }

  /// Whether the plan changes nothing.
  public var isEmpty: Bool { removals.isEmpty && additions.isEmpty }

  /// Drops the additions that a more recent plan does not contain.
  ///
  /// - Returns: The number of dropped additions.
  public mutating func dropAdditions(missingIn current: SidecarPlan) -> Int {
    // The confirmation may have waited for minutes, and an entry may have another `ETag` since.
    let tags = Dictionary(uniqueKeysWithValues: current.additions.map { ($0.name, $0.tag) })
    let count = additions.count
    additions.removeAll { tags[$0.name] != $0.tag }
    return count - additions.count
  }

  /// Whether the plan creates files.
  public var makesFiles: Bool { !additions.isEmpty }

  /// The changes if all planned entries are removed.
  public var preview: SidecarChanges {
    SidecarChanges(removed: removals.map(\.sidecar.name), written: additions.map(\.name))
  }

  /// Makes the changes, after the entries are removed.
  ///
  /// - Parameters:
  ///   - removed: The entries that were removed.
  ///   - changes: The changes made, also if an error is thrown.
  /// - Throws: `FileError` if a file can be neither removed nor written.
  public func carryOut(
    in folder: SidecarFolder, with removed: RemovalPlan.EntryList,
    into changes: inout SidecarChanges
  ) throws(FileError) {
    var owners = Set(additions.map(\.owner))
    for removal in removals { owners.formUnion(removal.owners) }
    let removed = try removed.ids(among: owners)
    for removal in removals {
      // An entry that was kept still needs its sidecar.
      guard removed.isSuperset(of: removal.owners), try folder.remove(removal.sidecar) else {
        changes.skipped += 1
        continue
      }
      changes.removed.append(removal.sidecar.name)
    }
    for addition in additions {
      // A sidecar without an entry would make the app ask for a 304 that it cannot use.
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

/// The changes made to the sidecars of a folder, or planned.
public struct SidecarChanges: Hashable, Sendable {
  /// The names of the removed files, in ascending order.
  public var removed: [ByteString] = []
  /// The names of the written files, in ascending order.
  public var written: [ByteString] = []
  /// The number of files that had changed meanwhile, or whose entry was kept.
  public var skipped = 0

  /// Creates changes.
  public init(removed: [ByteString] = [], written: [ByteString] = []) {
    (self.removed, self.written) = (removed, written)
  }

  /// Whether nothing was changed.
  public var isEmpty: Bool { removed.isEmpty && written.isEmpty }
}

/// The entries that the sidecars of a folder belong to.
struct SidecarOwners {
  /// The fields to decode of each response.
  static let projection: Projection = [.url, .key, .requestDetails]

  /// The entries of each sidecar that has any.
  private(set) var ids: [ByteString: [StoredResponse.ID]] = [:]
  /// The number of URLs with a sidecar, for each naming.
  private(set) var counts: [SidecarNaming: Int] = [:]

  /// Returns the URLs that an app may derive the name of a sidecar from: those of the request and of the response.
  static func urls(of response: borrowing StoredResponse) -> [ByteString] {
    // Which of the two URLs an app hashes after a redirect is up to the app.
    let requested = response.requestedURL
    return [requested, response.url == requested ? nil : response.url].compactMap { $0 }
  }

  /// Records which sidecars belong to an entry.
  ///
  /// - Returns: The sidecar that an app looks up for it, by the URL of the request.
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

  /// Returns the sidecars that only belong to removed entries.
  func removals(
    with entries: RemovalPlan.EntryList, in folder: SidecarFolder
  ) throws(FileError) -> [SidecarPlan.Removal] {
    var owners: Set<StoredResponse.ID> = []
    for ids in ids.values { owners.formUnion(ids) }
    let removed = try entries.ids(among: owners)
    return ids.compactMap { name, owners in
      // A file that cannot be read may not be a sidecar file at all, so it stays.
      guard let sidecar = folder.files[name], sidecar.tag != nil, removed.isSuperset(of: owners)
      else { return nil }
      return SidecarPlan.Removal(sidecar: sidecar, owners: owners)
    }
    .sorted { $0.sidecar.name < $1.sidecar.name }
  }
}

extension RemovalPlan.EntryList {
  /// Returns those of some ids that entries of the list have.
  func ids(among wanted: Set<StoredResponse.ID>) throws(FileError) -> Set<StoredResponse.ID> {
    var found: Set<StoredResponse.ID> = []
    if wanted.isEmpty { return found }
    var all = makeReader()
    while let entry = try all.next() {
      if wanted.contains(entry.version.id) { found.insert(entry.version.id) }
    }
    return found
  }
}

/// The `ETag`s in a folder of sidecars, for looking up entries.
public struct SidecarTags: Hashable, Sendable {
  private let tags: [ByteString: ByteString]

  /// Reads the `ETag`s of a folder; unreadable files have none.
  public init(of folder: SidecarFolder) {
    tags = folder.files.compactMapValues(\.tag)
  }

  /// Returns the `ETag` that an app sends for a response; `nil` if there is none.
  ///
  /// The response must have been decoded for ``projection``.
  public func tag(of response: borrowing StoredResponse) -> ByteString? {
    for url in SidecarOwners.urls(of: response) {
      for name in SidecarNaming.names(of: url) {
        // The first URL is that of the request, which is the one an app has at hand when it looks
        // for the file.
        if let tag = tags[name.text] { return tag }
      }
    }
    return nil
  }

  /// The fields needed to find the `ETag` of a response.
  public static let projection = SidecarOwners.projection
}
