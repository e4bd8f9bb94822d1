public import Bytes
public import ResponseArchives
public import ResponseStorage

/// What an import does with an entry whose key the cache has already, with other contents.
public enum ImportConflictRule: String, Hashable, Sendable, CaseIterable {
  /// The entry of the cache stays.
  case skip
  /// The entry of the archive takes its place.
  case replace
  /// That of the two stays that was first stored later; that of the cache if neither was.
  case newer
  /// Nothing is imported at all.
  case error
}

/// What is to be put from an archive into a cache, decided before anything is.
///
/// To make one, all of the archive is read and compared with its digests.
public struct ImportPlan: Hashable, Sendable {
  /// What happens with an entry of the archive.
  public enum Action: String, Hashable, Sendable, CaseIterable {
    /// The cache has none of its key.
    case add
    /// It takes the place of that of its key.
    case replace
    /// The cache has it, with the same contents.
    case unchanged
    /// The cache has another of its key, which stays.
    case skip
    /// It is not whole enough for a cache.
    case reject
    /// Its method is not GET, and such entries are not wanted.
    case otherMethod = "other-method"
  }

  /// An entry of the archive that is selected.
  public struct Entry: Hashable, Sendable {
    /// Its place in the archive, from 1 on.
    public var number: Int64
    /// Its URL.
    public var url: ByteString?
    /// The size of its body in bytes; `nil` if there is none.
    public var size: ByteCount?
    /// What happens with it.
    public var action: Action
    /// Why it is rejected, or left out for another of the archive: a clause.
    public var reason: String?
    /// What the cache has no place for.
    public var losses: [ResponseLoss] = []
    /// When it was first stored, as far as the cache would know.
    var stored: Timestamp?
    /// The response that it replaces.
    public var replaced: ResponseVersion?
  }

  /// The archive.
  public var archive: StoreDescription
  /// What is to happen, in the order of the archive.
  public var entries: [Entry] = []
  /// The number of all entries of the archive that were read.
  public var archivedEntries: Int64 = 0
  /// The names that no entry has.
  public var absent: EntryNames
  /// What the archive holds besides, which is no entry for a cache.
  public var omissions: [ArchiveOmission] = []
  /// What is changed of the entries on their way.
  public var rewriting: ResponseRewriting
  /// Why not all of the archive could be read, if that was allowed.
  public var damage: String?

  // Entries are looked at by their indexes below, as each would be copied otherwise.

  /// The number of entries with which something happens.
  public func count(_ action: Action) -> Int {
    entries.indices.count { entries[$0].action == action }
  }

  /// The sizes of the bodies of the entries with which something happens, in bytes.
  public func bodyBytes(_ action: Action) -> ByteCount {
    entries.indices.reduce(0) { sum, index in
      entries[index].action == action ? sum + (entries[index].size ?? 0) : sum
    }
  }

  /// What is lost of the entries that are written, with the number of those that lose it.
  public var losses: [(loss: ResponseLoss, entries: Int)] {
    var counts: [ResponseLoss: Int] = [:]
    for index in entries.indices where entries[index].isWritten {
      for loss in entries[index].losses { counts[loss, default: 0] += 1 }
    }
    return ResponseLoss.allCases.compactMap { loss in counts[loss].map { (loss, $0) } }
  }

  /// Whether carrying it out changes anything.
  public var changesAnything: Bool { entries.contains { $0.isWritten } }

  /// Plans to import the selected entries of an archive.
  ///
  /// - Parameters:
  ///   - target: The cache as it is now, or the one that is yet to be made.
  ///   - anyMethod: Whether answers to requests other than GET are wanted; they always are of an
  ///     archive that restores caches.
  ///   - rewriting: What is changed of the entries, once they are selected.
  ///   - salvaging: Whether damage of the archive ends its reading, and is no error.
  /// - Throws: ``ResponseArchiveError``, ``StoreError``, or ``ImportConflict``.
  public init(
    importing archive: any ResponseArchive, _ selection: Selection,
    into target: any ResponseTarget,
    rule: ImportConflictRule, now: Timestamp, anyMethod: Bool = false,
    rewriting: ResponseRewriting = .init(), salvaging: Bool = false
  ) throws {
    self.archive = archive.description
    self.rewriting = rewriting
    absent = selection.names ?? EntryNames()
    var keys: Set<TextDigest> = []
    var earlier: [TextDigest: Int] = [:]
    var urlBytes: ByteCount = 0
    let projection = selection.projection.union([.url, .method])
    do {
      try archive.forEachEntry(verifyingBodies: true) { raw in
        let response = StoredResponse(decoding: raw, projection)
        try noteKey(of: raw, in: &keys)
        let isSelected = try selection.contains(response, now: now)
        var entry = Entry(
          number: archivedEntries + 1, url: response.url.map(ByteString.init(copying:)),
          size: raw.bodySize, action: .add)
        let isOfOtherMethod = response.request.method.map { $0 != "GET" } ?? false
        if isOfOtherMethod, !anyMethod, !archive.restoresCaches {
          entry.action = .otherMethod
        } else if isSelected {
          let rewritten = rewriting.applied(to: raw)
          if !rewriting.hosts.isEmpty {
            entry.url = StoredResponse(decoding: rewritten, .url).url
          }
          try decide(&entry, rewritten, of: archive, target, rule, &earlier)
        }
        // Damage of the body shows only when it was read, and then nothing is to be taken of it.
        if entry.action != .reject || !raw.hasSparseBody {
          try raw.part(.body)?.content?.readThrough()
        }
        archivedEntries += 1
        absent.remove(response)
        if isSelected {
          urlBytes += ByteCount(entry.url?.bytes.count ?? 0)
          try archive.limits.check(urlBytes, .urls, at: self.archive.path)
          entries.append(entry)
        }
        return .next
      }
    } catch let error as ResponseArchiveError where salvaging && error.kind == .damaged {
      damage = error.description
    }
    omissions = archive.omissions
  }

  /// Refuses a key that an entry before had.
  private func noteKey(of raw: RawResponse, in keys: inout Set<TextDigest>) throws {
    guard let key = raw.text("request_key"), !keys.insert(TextDigest(key)).inserted else { return }
    throw ResponseArchiveError(
      .damaged, at: archive.path, "entry \(archivedEntries + 1) has the key of an entry before it")
  }

  /// Decides what happens with an entry.
  ///
  /// - Parameter earlier: The places of the entries that are to come already, by their keys in the cache.
  private mutating func decide(
    _ entry: inout Entry, _ raw: RawResponse, of archive: any ResponseArchive,
    _ target: any ResponseTarget,
    _ rule: ImportConflictRule, _ earlier: inout [TextDigest: Int]
  ) throws {
    let admitted: AdmittedResponse
    do {
      let reason =
        archive.restoresCaches
        ? raw.obstacleToRestoring(withoutBodies: archive.omitsBodies) : raw.incompleteness
      if let reason = raw.finding ?? reason { throw AdmissionRefusal(reason) }
      admitted = try target.admit(raw)
    } catch let refusal as AdmissionRefusal {
      (entry.action, entry.reason) = (.reject, refusal.reason)
      return
    }
    entry.losses = admitted.losses
    entry.stored = StoredResponse(decoding: admitted.kept, .firstStored).firstStored
    guard let text = admitted.key else {
      // It takes the place of no other.
      let there = try target.standingResponse(withoutKey: raw.id)
      if let there, try admitted.kept.hasSameContents(as: there.raw) { entry.action = .unchanged }
      return
    }
    let key = TextDigest(text)
    if let place = earlier[key] {
      try decide(&entry, after: place, rule)
    } else if let there = try target.standingResponse(forKey: text) {
      if try admitted.kept.hasSameContents(as: there.raw) {
        // An import that was killed may have left what it was to replace.
        let isUnfinished = there.hasOlder && (rule == .replace || rule == .newer)
        (entry.action, entry.replaced) =
          isUnfinished ? (.replace, there.version) : (.unchanged, nil)
        return
      }
      let other = StoredResponse(decoding: there.raw, .firstStored).firstStored
      entry.action = try Self.action(rule, entry, instead: other)
      if entry.action == .replace { entry.replaced = there.version }
    }
    if entry.isWritten { earlier[key] = entries.count }
  }

  /// Decides on an entry of which the cache cannot tell one before it.
  private mutating func decide(
    _ entry: inout Entry, after place: Int, _ rule: ImportConflictRule
  ) throws {
    switch try Self.action(rule, entry, instead: entries[place].stored) {
    case .replace:
      (entry.action, entry.replaced) = (entries[place].action, entries[place].replaced)
      entries[place].action = .skip
      entries[place].replaced = nil
      entries[place].reason = Self.sameKey
    case let action: (entry.action, entry.reason) = (action, Self.sameKey)
    }
  }

  private static let sameKey = "the cache cannot tell it from another entry of the archive"

  /// What happens with an entry where there is another of its key, which was first stored at some time.
  private static func action(
    _ rule: ImportConflictRule, _ entry: Entry, instead other: Timestamp?
  ) throws -> Action {
    switch rule {
    case .error: throw ImportConflict(url: entry.url)
    case .replace: return .replace
    case .newer:
      guard let time = entry.stored else { return .skip }
      return other.map { time > $0 } ?? true ? .replace : .skip
    case .skip: return .skip
    }
  }
}

extension ImportPlan.Entry {
  /// Whether the entry is put into the cache.
  public var isWritten: Bool { action == .add || action == .replace }
}

/// An entry of an archive has the key of an entry of the cache, and there was to be none.
public struct ImportConflict: Error, Hashable, Sendable {
  /// The URL of the entry.
  public var url: ByteString?
}

extension RawResponse {
  /// Why a response cannot be put back that a cache had: a clause, or `nil` if it can.
  ///
  /// - Parameter withoutBodies: Whether a body that is missing may only have been left out.
  fileprivate func obstacleToRestoring(withoutBodies: Bool) -> String? {
    if hasBodyFile, part(.body)?.isText == true { return "its body is text in a file" }
    if hasSparseBody { return ArchiveExport.isSparse }
    if withoutBodies, part(.body)?.content == nil {
      return "its body is missing, as the archive was written without bodies"
    }
    return nil
  }

  /// Why no cache can have the response: a clause, or `nil` if one can.
  fileprivate var incompleteness: String? {
    guard case .text = value(of: "request_key") else { return "it has no key" }
    guard let time = value(of: "time_stamp"), time != .null else { return "it has no time_stamp" }
    if part(.responseObject) == nil { return "its property lists are missing" }
    if hasBodyFile, part(.body)?.isText == true { return "its body is text in a file" }
    guard part(.body)?.content != nil else { return "its body is missing" }
    return nil
  }

  /// Whether the body is a file that hardly anything was written to.
  fileprivate var hasSparseBody: Bool { part(.body)?.content?.isSparse ?? false }

  /// Whether a cache would take both for the same: its number, the hash of its key and the place of the
  /// body may differ.
  fileprivate func hasSameContents(as other: RawResponse) throws -> Bool {
    let columns = ["version", "storage_policy", "time_stamp", "partition"]
    guard columns.allSatisfy({ value(of: $0) ?? .null == other.value(of: $0) ?? .null }) else {
      return false
    }
    for name in Part.Name.allCases {
      let (part, other) = (part(name), other.part(name))
      guard part?.content?.size == other?.content?.size,
        part?.isText ?? false == other?.isText ?? false,
        try part?.content?.digest() == other?.content?.digest()
      else { return false }
    }
    return true
  }
}
