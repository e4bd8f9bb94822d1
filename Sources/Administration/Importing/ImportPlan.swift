public import Bytes
public import ResponseArchives
public import ResponseStorage

/// What an import does with an entry if the cache has a different entry with the same key.
public enum ImportConflictRule: String, Hashable, Sendable, CaseIterable {
  /// The entry of the cache is kept.
  case skip
  /// The entry of the archive replaces it.
  case replace
  /// The entry that was first stored later is kept; the entry of the cache if neither was.
  case newer
  /// Nothing is imported.
  case error
}

/// The entries to import from an archive into a cache, decided before anything is changed.
///
/// Creating a plan reads the whole archive and verifies its digests.
public struct ImportPlan: Hashable, Sendable {
  /// What happens to an entry of the archive.
  public enum Action: String, Hashable, Sendable, CaseIterable {
    /// The cache has no entry with its key.
    case add
    /// It replaces the entry with the same key.
    case replace
    /// The cache already has it, with the same contents.
    case unchanged
    /// The cache has a different entry with the same key, which is kept.
    case skip
    /// It is too incomplete for a cache.
    case reject
    /// Its method is not GET, and only GET is wanted.
    case otherMethod = "other-method"
    /// Its body could not be recovered, so an app could not use it.
    case lostBody = "lost-body"
  }

  /// A selected entry of the archive.
  public struct Entry: Hashable, Sendable {
    /// The position in the archive, starting at 1.
    public var number: Int64
    /// Its URL.
    public var url: ByteString?
    /// The size of the body in bytes; `nil` if there is no body.
    public var size: ByteCount?
    /// What happens to it.
    public var action: Action
    /// Why it is rejected, or skipped for another entry of the archive: a clause.
    public var reason: String?
    /// The parts that the cache cannot store.
    public var losses: [ResponseLoss] = []
    /// The time at which it was last stored, according to the archive.
    var archived: Timestamp?
  }

  /// The archive.
  public var archive: StoreDescription
  /// The selected entries, in the order of the archive.
  public var entries: [Entry] = []
  /// The responses that the entries to import replace, by the numbers of the entries.
  private(set) var replaced: [Int64: ResponseVersion] = [:]
  /// The number of entries of the archive that were read.
  public var archivedEntries: Int64 = 0
  /// The requested names that no entry has.
  public var absent: EntryNames
  /// The other contents of the archive, which are no entries.
  public var omissions: [ArchiveOmission] = []
  /// The changes to the entries on import.
  public var rewriting: ResponseRewriting
  /// Why the archive could not be read to its end, if that was allowed.
  public var damage: String?

  // Access entries by index: iterating would copy each of them.

  /// Returns the number of entries with an action.
  public func count(_ action: Action) -> Int {
    entries.indices.count { entries[$0].action == action }
  }

  /// The number of entries that are skipped for another entry of the archive.
  public var duplicates: Int {
    entries.indices.count { entries[$0].action == .skip && entries[$0].reason != nil }
  }

  /// Returns the total size of the bodies of the entries with an action, in bytes.
  public func bodyBytes(_ action: Action) -> ByteCount {
    entries.indices.reduce(0) { sum, index in
      entries[index].action == action ? sum + (entries[index].size ?? 0) : sum
    }
  }

  /// The parts that the imported entries lose, with the number of entries that lose them.
  public var losses: [(loss: ResponseLoss, entries: Int)] {
    var counts: [ResponseLoss: Int] = [:]
    for index in entries.indices where entries[index].isWritten {
      for loss in entries[index].losses { counts[loss, default: 0] += 1 }
    }
    return ResponseLoss.allCases.compactMap { loss in counts[loss].map { (loss, $0) } }
  }

  /// Whether the import changes anything.
  public var changesAnything: Bool { entries.contains { $0.isWritten } }

  /// The number of the last entry that is imported, up to which the archive is read again; `nil` if none is.
  public var lastWritten: Int64? {
    entries.indices.last { entries[$0].isWritten }.map { entries[$0].number }
  }

  /// Plans to import the selected entries of an archive.
  ///
  /// - Parameters:
  ///   - target: The current cache, or a cache to be created.
  ///   - anyMethod: Whether to import responses to requests other than GET; an archive that restores caches always
  ///     includes them.
  ///   - rewriting: The changes to the entries, applied after the selection.
  ///   - salvaging: Whether damage to the archive ends the reading without an error.
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
        // Users select by what the archive contains, so hosts are mapped only afterwards.
        let isSelected = try selection.contains(response, now: now)
        var entry = Entry(
          number: archivedEntries + 1, url: response.url.map(ByteString.init(copying:)),
          size: raw.bodySize, action: .add)
        let isOfOtherMethod = response.request.method.map { $0 != "GET" } ?? false
        // `URLCache` only answers GET, and a response to a POST would get the key of a GET.
        if isOfOtherMethod, !anyMethod, !archive.restoresCaches {
          entry.action = .otherMethod
        } else if archive.bodies == .recovered, raw.part(.body)?.content == nil {
          // Not so in a backup, which restores what is broken, too.
          entry.action = .lostBody
        } else if isSelected {
          let rewritten = rewriting.applied(to: raw)
          if !rewriting.hosts.isEmpty {
            entry.url = StoredResponse(decoding: rewritten, .url).url
          }
          try decide(&entry, rewritten, of: archive, target, rule, &earlier)
        }
        // Damage to the body only shows when it is read, and then nothing of it may be imported.
        if entry.action != .reject || !raw.hasSparseBody {
          try raw.part(.body)?.content?.readThrough()
        }
        archivedEntries += 1
        absent.remove(response)
        if isSelected {
          urlBytes += ByteCount(entry.url?.bytes.count ?? 0)
          // The URLs of all entries to import are in memory at once. Without a limit, 256 entries
          // with URLs of 1 MiB took 516 MiB.
          try archive.limits.check(urlBytes, .urls, at: self.archive.path)
          entries.append(entry)
        }
        return .next
      }
    } catch let error as ResponseArchiveError where salvaging && error.kind == .damaged {
      // Exceeding a limit is no damage: the limit protects memory, and the user can raise it.
      damage = error.description
    }
    omissions = archive.omissions
  }

  /// Rejects a key that an earlier entry has.
  private func noteKey(of raw: RawResponse, in keys: inout Set<TextDigest>) throws {
    // `request_key` is UNIQUE in all schemas of CFNetwork, so no archive of a cache has a key
    // twice. Which of two entries counts would depend on the program that reads a crafted archive.
    guard let key = raw.text("request_key"), !keys.insert(TextDigest(key)).inserted else { return }
    throw ResponseArchiveError(
      .damaged, at: archive.path,
      "entry \(archivedEntries + 1) has the same key as an earlier entry")
  }

  /// Decides what happens to an entry.
  ///
  /// - Parameter earlier: The indices of the entries to be imported so far, by their keys in the cache.
  private mutating func decide(
    _ entry: inout Entry, _ raw: RawResponse, of archive: any ResponseArchive,
    _ target: any ResponseTarget,
    _ rule: ImportConflictRule, _ earlier: inout [TextDigest: Int]
  ) throws {
    let admitted: AdmittedResponse
    do {
      let reason =
        archive.restoresCaches
        ? raw.findingAgainstRestoring(from: archive.bodies) : raw.incompleteness
      if let reason = raw.finding ?? reason { throw AdmissionRefusal(reason) }
      admitted = try target.admit(raw)
    } catch let refusal as AdmissionRefusal {
      (entry.action, entry.reason) = (.reject, refusal.reason)
      return
    }
    entry.losses = admitted.losses
    let archived = StoredResponse(decoding: raw, [.stored, .firstStored])
    entry.archived = archived.stored ?? archived.firstStored
    guard let text = admitted.key else {
      // Without a key it replaces no entry.
      let there = try target.standingResponse(withoutKey: raw.id)
      if let there, try admitted.kept.hasSameContents(as: there.raw) { entry.action = .unchanged }
      return
    }
    let key = TextDigest(text)
    // Keys that differ in the archive can be equal in the cache: Foundation's has neither scheme
    // nor query.
    if let place = earlier[key] {
      try decide(&entry, after: place, rule)
    } else if let there = try target.standingResponse(forKey: text) {
      // Compare what the store would give back. A Foundation store keeps no request, so compared
      // with the archive itself, a second import of it would replace every entry.
      if try admitted.kept.hasSameContents(as: there.raw) {
        // A killed import may have left the entry that it was going to replace.
        let isUnfinished = there.hasOlder && (rule == .replace || rule == .newer)
        entry.action = isUnfinished ? .replace : .unchanged
      } else {
        entry.action = try Self.action(rule, entry, admitted.kept, instead: there.raw)
      }
      if entry.action == .replace { replaced[entry.number] = there.version }
    }
    if entry.isWritten { earlier[key] = entries.count }
  }

  /// Decides on an entry that has the same key in the cache as an earlier entry of the archive: the one that was stored
  /// last is imported, as the cache would have kept that.
  private mutating func decide(
    _ entry: inout Entry, after place: Int, _ rule: ImportConflictRule
  ) throws {
    if rule == .error { throw ImportConflict(url: entry.url, isInArchive: true) }
    let isOlder = entries[place].archived.map { earlier in
      entry.archived.map { $0 < earlier } ?? true
    }
    guard isOlder ?? false else {
      entry.action = entries[place].action
      replaced[entry.number] = replaced.removeValue(forKey: entries[place].number)
      entries[place].action = .skip
      entries[place].reason = Self.sameKey
      return
    }
    (entry.action, entry.reason) = (.skip, Self.sameKey)
  }

  private static let sameKey = "the cache cannot distinguish it from a newer entry in the archive"

  /// Returns what happens to an entry if the cache has another with its key.
  ///
  /// - Parameters:
  ///   - kept: What the cache would store of the entry.
  ///   - there: The entry of the cache.
  private static func action(
    _ rule: ImportConflictRule, _ entry: Entry, _ kept: RawResponse, instead there: RawResponse
  ) throws -> Action {
    switch rule {
    case .error: throw ImportConflict(url: entry.url)
    case .replace: return .replace
    case .newer:
      // An unknown time is no reason to lose the entry that the cache has.
      guard let time = StoredResponse(decoding: kept, .firstStored).firstStored else {
        return .skip
      }
      let other = StoredResponse(decoding: there, .firstStored).firstStored
      // Equal times keep the entry of the cache, so that the same import again changes nothing.
      return other.map { time > $0 } ?? true ? .replace : .skip
    case .skip: return .skip
    }
  }
}

extension ImportPlan.Entry {
  /// Whether the entry is imported.
  public var isWritten: Bool { action == .add || action == .replace }
}

/// An entry of an archive has the key of an entry of the cache, which the rule forbids.
public struct ImportConflict: Error, Hashable, Sendable {
  /// The URL of the entry.
  public var url: ByteString?
  /// Whether the other entry is also in the archive.
  public var isInArchive = false
}
