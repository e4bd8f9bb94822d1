public import Bytes
public import ResponseStorage

extension Finding.Code {
  static let orphanSidecar = Self(
    "orphan-sidecar", .warning,
    "the app sends its ETag, gets a 304, and has no stored response to show", repair: .sidecars)
  static let youngSidecar = Self(
    "young-sidecar", .note, "an app may be about to store its entry, so it is kept")
  static let differentSidecar = Self(
    "different-sidecar", .warning,
    "a 304 for its ETag confirms a different response than the stored one"
  )
  static let unreadableSidecar = Self(
    "unreadable-sidecar", .warning, "an app may crash when it reads this file; it is never removed")
  static let missingSidecar = Self(
    "missing-sidecar", .note, "the app downloads the full response again", repair: .sidecars)
  static let unknownSidecarNames = Self(
    "unknown-sidecar-names", .warning,
    "they may follow another naming scheme or belong to another cache; set the scheme with '--sidecar-names'"
  )
  static let notASidecar = Self(
    "not-a-sidecar", .note, "its name is not the hash of a URL, so it is kept")
}

/// A comparison of a store with a folder of sidecars, and the plan of a repair.
public struct SidecarCheck {
  /// The options of a comparison.
  public struct Options {
    /// The naming of the files, if the user specified one.
    public var naming: SidecarNaming?
    /// Whether to plan a repair.
    public var repairs: Bool
    /// The entries to be removed before the repair.
    public var removing: RemovalPlan.EntryList
    /// The system time, for the age of files.
    public var clock: Timestamp

    /// Creates options.
    public init(
      naming: SidecarNaming?, repairs: Bool,
      removing: RemovalPlan.EntryList = RemovalPlan.EntryList(), clock: Timestamp
    ) {
      (self.naming, self.repairs, self.removing) = (naming, repairs, removing)
      self.clock = clock
    }
  }

  /// The plan of the repair.
  public private(set) var plan = SidecarPlan()

  /// The folder.
  public let folder: SidecarFolder
  private let options: Options
  private var owners = SidecarOwners()
  private var hasMissing = false
  private var missing: [StoredResponse.ID: (url: ByteString, tag: ByteString)] = [:]

  /// Compares a store with a folder: first its entries in order of ids, then the files in order of names.
  ///
  /// A sidecar is an orphan only if its name has the form of sidecars that belong to an entry, or the form that the
  /// user specified. Otherwise all files in a folder of another cache would be orphans.
  ///
  /// Memory grows with the number of sidecars, and with the files that a repair writes.
  ///
  /// - Parameter report: Called with each finding.
  public init(
    of folder: SidecarFolder, with source: any ResponseSource, _ options: Options,
    _ report: (Finding) throws -> Void
  ) throws {
    (self.folder, self.options) = (folder, options)
    let projection = SidecarOwners.projection.union([.method, .responseHeaders])
    try source.scan(projection) { response in
      if let finding = compare(response) { try report(finding) }
      return .next
    }
    try checkFiles(report)
    guard options.repairs else { return }
    plan.removals += try owners.removals(with: options.removing, in: folder)
    plan.removals.sort { $0.sidecar.name < $1.sidecar.name }
    try planAdditions()
  }

  /// Compares an entry with its sidecar.
  private mutating func compare(_ response: borrowing StoredResponse) -> Finding? {
    let sidecar = owners.insert(response, in: folder)
    guard let headers = response.responseHeaders else { return nil }
    let stored = headers.firstValue(named: "etag")
    func finding(_ code: Finding.Code, _ message: String) -> Finding {
      Finding(
        code, message, id: response.id, url: response.url,
        path: sidecar.map { ByteString(Array("\(folder.path)/".utf8) + $0.name.bytes) })
    }
    if let sidecar {
      // An unreadable sidecar is reported with the files.
      guard let tag = sidecar.tag, tag != stored else { return nil }
      return finding(
        .differentSidecar,
        stored == nil
          ? "its sidecar file has an ETag, but the stored response has none"
          : "its sidecar file and the stored response have different ETags")
    }
    // Apps keep sidecars for GET requests only.
    guard let stored, response.request.method ?? "GET" == "GET",
      let url = SidecarOwners.urls(of: response).first
    else { return nil }
    hasMissing = true
    if options.repairs { missing[response.id] = (url, stored) }
    return finding(.missingSidecar, "the stored response has an ETag but no sidecar file")
  }

  /// The namings by which files without an owner are orphans: the specified one, and each that finds an owner for at
  /// least half of the files that it may have named. A single match among many may be an accident, or belong to another
  /// cache.
  private var knownNamings: Set<SidecarNaming> {
    let matched = owners.counts.filter { naming, count in
      2 * count >= folder.files.keys.count { naming.mayMake($0.bytes) }
    }
    return Set(matched.keys).union(options.naming.map { [$0] } ?? [])
  }

  private mutating func checkFiles(_ report: (Finding) throws -> Void) throws {
    let namings = knownNamings
    func path(_ name: ByteString) -> ByteString {
      ByteString(Array("\(folder.path)/".utf8) + name.bytes)
    }
    var unknown = 0
    for sidecar in folder.files.values.sorted(by: { $0.name < $1.name }) {
      if case .unreadable(let reason) = sidecar.content {
        try report(Finding(.unreadableSidecar, reason, path: path(sidecar.name)))
      } else if owners.ids[sidecar.name] == nil {
        if !namings.contains(where: { $0.mayMake(sidecar.name.bytes) }) {
          unknown += 1
        } else if sidecar.file?.isYoung(at: options.clock) ?? true {
          // A file of unknown age counts as young, so that it is kept.
          try report(
            Finding(.youngSidecar, "no entry has its URL yet", path: path(sidecar.name)))
        } else {
          try report(Finding(.orphanSidecar, "no entry has its URL", path: path(sidecar.name)))
          if options.repairs { plan.removals.append(.init(sidecar: sidecar, owners: [])) }
        }
      }
    }
    if unknown > 0 {
      let files = unknown == 1 ? "1 sidecar file" : "\(unknown) sidecar files"
      try report(
        Finding(
          .unknownSidecarNames, "no known naming scheme matches the names of \(files)",
          path: ByteString(folder.path)))
    }
    for name in folder.others {
      try report(Finding(.notASidecar, "it is not a sidecar file", path: path(name)))
    }
  }

  /// Plans the missing files, with the most frequent naming.
  private mutating func planAdditions() throws {
    let all = SidecarNaming.allCases
    let naming =
      options.naming
      ?? all.filter { owners.counts[$0] != nil }
      .max { owners.counts[$0, default: 0] < owners.counts[$1, default: 0] }
    guard let naming else { return }
    plan.naming = naming
    let removing = try options.removing.ids(among: Set(missing.keys))
    var additions: [ByteString: SidecarPlan.Addition?] = [:]
    for (id, entry) in missing where !removing.contains(id) {
      guard let name = naming.name(of: entry.url), folder.files[name] == nil,
        // Not every stored `ETag` can be archived as text: a server may have sent any bytes.
        ETagArchive.bytes(of: entry.tag) != nil
      else { continue }
      if let known = additions[name] {
        // Two entries for one URL with different ETags: it is unknown which one the app gets.
        if known?.tag != entry.tag { additions[name] = .some(nil) }
      } else {
        additions[name] = .init(name: name, tag: entry.tag, owner: id)
      }
    }
    plan.additions = additions.values.compactMap { $0 }.sorted { $0.name < $1.name }
  }

  /// Whether files are missing that a repair cannot write because the naming is unknown.
  public var needsNaming: Bool {
    hasMissing && options.naming == nil && owners.counts.isEmpty
  }
}
