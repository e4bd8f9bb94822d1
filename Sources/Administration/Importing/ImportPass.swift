import Bytes
import Files
import ResponseArchives
import ResponseStorage
import SQLite

/// One pass over an archive that decides about each entry as if it were the only one with its key, and collects the keys.
///
/// A copy of a pass that has not begun can be used for another pass.
struct ImportPass {
  /// How a pass ended.
  enum End {
    /// All of the archive was read.
    case complete
    /// The archive is damaged, or exceeds a limit.
    case failure(ResponseArchiveError)
    /// The rule forbids an entry.
    case conflict(ImportConflict)
  }

  private let archive: any ResponseArchive
  private let selection: Selection
  private let target: any ResponseTarget
  private let rule: ImportConflictRule
  private let now: Timestamp
  private let anyMethod: Bool
  private let rewriting: ResponseRewriting

  private var keys = RepeatedKeys()
  private var urlBytes: ByteCount = 0
  /// The entries so far, in the order of the archive.
  private var entries = Scratch.List<ImportPlan.Entry>.Writer()
  /// The sums of the entries.
  private(set) var totals = ImportTotals()
  /// Whether the cache has a key for an entry that differs from the one in the archive.
  private(set) var hasMappedKeys = false
  /// The number of entries of the archive that were read.
  private(set) var archivedEntries: Int64 = 0
  /// The requested names that no entry has.
  private(set) var absent: EntryNames

  /// Prepares a pass; see ``ImportPlan/init(importing:_:into:rule:now:anyMethod:rewriting:salvaging:)``.
  init(
    importing archive: any ResponseArchive, _ selection: Selection,
    into target: any ResponseTarget, rule: ImportConflictRule, now: Timestamp,
    anyMethod: Bool, rewriting: ResponseRewriting
  ) {
    (self.archive, self.selection, self.target) = (archive, selection, target)
    (self.rule, self.now, self.anyMethod, self.rewriting) = (rule, now, anyMethod, rewriting)
    absent = selection.names ?? EntryNames()
  }

  /// Reads the archive.
  ///
  /// - Parameter repeated: An entry that is known to have the key of an earlier entry, which ends the pass.
  /// - Throws: Errors that are not about the archive itself.
  mutating func run(endingAt repeated: Int64? = nil) throws -> End {
    let projection = selection.projection.union([.url, .method])
    do {
      try archive.forEachEntry(verifyingBodies: true) { raw in
        let number = archivedEntries + 1
        let digest = raw.text("request_key").map { TextDigest($0) }
        // `request_key` is UNIQUE in all schemas of CFNetwork, so no archive of a cache has a key
        // twice. Which of two entries counts would depend on the program that reads a crafted
        // archive.
        if number == repeated {
          throw ResponseArchiveError(
            .damaged, at: archive.description.path,
            "entry \(number) has the same key as an earlier entry")
        }
        if let digest { try keys.insert(digest, of: number) }
        try read(raw, digest, StoredResponse(decoding: raw, projection))
        return .next
      }
      return .complete
    } catch let error as ResponseArchiveError {
      return .failure(error)
    } catch let conflict as ImportConflict {
      return .conflict(conflict)
    }
  }

  /// Returns the number of the first entry that has the key of an earlier one.
  mutating func firstRepeatedKey() throws(FileError) -> Int64? { try keys.removeAll() }

  /// Removes all entries, and returns them in the order of the archive.
  mutating func finishEntries() throws(FileError) -> Scratch.List<ImportPlan.Entry> {
    try entries.finish()
  }

  private mutating func read(
    _ raw: RawResponse, _ digest: TextDigest?, _ response: borrowing StoredResponse
  ) throws {
    // Users select by what the archive contains, so hosts are mapped only afterwards.
    let isSelected = try selection.contains(response, now: now)
    var entry = ImportPlan.Entry(
      number: archivedEntries + 1, url: response.url, size: raw.bodySize, action: .add)
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
      try decide(&entry, rewritten, archived: (raw.text("request_key"), digest))
    }
    // Damage to the body only shows when it is read, and then nothing of it may be imported.
    if entry.action != .reject || !raw.hasSparseBody {
      try raw.part(.body)?.content?.readThrough()
    }
    archivedEntries += 1
    absent.remove(response)
    guard isSelected else { return }
    // A crafted archive of a few megabytes could otherwise fill the folder for temporary files.
    urlBytes += ByteCount(entry.url?.bytes.count ?? 0)
    try archive.limits.check(urlBytes, .urls, at: archive.description.path)
    totals.insert(entry)
    try entries.append(entry)
  }

  /// Decides what happens to an entry.
  ///
  /// - Parameter archived: The key in the archive, and its digest.
  private mutating func decide(
    _ entry: inout ImportPlan.Entry, _ raw: RawResponse,
    archived: (key: ByteString?, digest: TextDigest?)
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
    let times = StoredResponse(decoding: raw, [.stored, .firstStored])
    entry.archived = times.stored ?? times.firstStored
    guard let key = admitted.key else {
      // Without a key it replaces no entry.
      let there = try target.standingResponse(withoutKey: raw.id)
      if let there, try admitted.kept.hasSameContents(as: there.raw) { entry.action = .unchanged }
      return
    }
    let isMapped = key != archived.key
    if isMapped { hasMappedKeys = true }
    entry.key = isMapped ? TextDigest(key) : archived.digest
    guard let there = try target.standingResponse(forKey: key) else { return }
    entry.standing = there.version
    // Compare what the store would give back. A Foundation store keeps no request, so compared
    // with the archive itself, a second import of it would replace every entry.
    if try admitted.kept.hasSameContents(as: there.raw) {
      // A killed import may have left the entry that it was going to replace.
      let isUnfinished = there.hasOlder && (rule == .replace || rule == .newer)
      entry.action = isUnfinished ? .replace : .unchanged
    } else {
      entry.action = try rule.action(entry, admitted.kept, instead: there.raw)
    }
  }
}

extension ImportConflictRule {
  /// Returns what happens to an entry if the cache has another with its key.
  ///
  /// - Parameters:
  ///   - kept: What the cache would store of the entry.
  ///   - there: The entry of the cache.
  fileprivate func action(
    _ entry: ImportPlan.Entry, _ kept: RawResponse, instead there: RawResponse
  ) throws -> ImportPlan.Action {
    switch self {
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
