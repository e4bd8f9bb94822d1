public import Bytes
import Matching
import ResponseStorage

/// Responses divided into those that are selected, and those that are only counted.
///
/// Each thread that reads the store fills one, for some of the responses.
struct SelectionTally: ResponseTally {
  /// The parameters for creating entries from selected responses.
  struct Basis: Sendable {
    let selection: Selection
    let rules: EntryRules
    /// The entries that are kept although they are selected.
    let pins: EntryNames
    let now: Timestamp
    /// More fields to decode of each entry.
    let needed: Projection
    /// The body files that stay when their entries are removed.
    let keptFiles: KeptBodyFiles
    /// Whether to record the URL and key of an entry.
    let naming: Bool
    private let asksForFreshness: Bool

    init(
      selection: Selection, rules: EntryRules, pins: EntryNames, now: Timestamp,
      decoding needed: Projection, keepingFiles keptFiles: KeptBodyFiles = KeptBodyFiles(),
      naming: Bool = true
    ) {
      (self.selection, self.rules, self.pins) = (selection, rules, pins)
      (self.now, self.needed, self.naming) = (now, needed, naming)
      self.keptFiles = keptFiles
      asksForFreshness = needed.isSuperset(of: ResponseFreshness.projection)
    }

    /// The fields to decode of each selected response.
    var projection: Projection {
      // The stored time and the file tell later whether the entry is still the one that the plan was made for.
      selection.projection.union([.stored, .body, .file]).union(needed)
        .union(rules.projection).union(pins.projection).union(naming ? [.key, .url] : [])
    }

    func entry(
      of response: borrowing StoredResponse
    ) throws(RegularExpression.Overrun) -> RemovalPlan.Entry {
      // The time is requested only if the selection depends on it.
      let isTimeKnown = response.decoded.isSuperset(of: selection.ageBasis.projection)
      var entry = RemovalPlan.Entry(
        of: response, at: isTimeKnown ? selection.ageBasis.time(of: response, now: now) : nil,
        naming: naming)
      if entry.hasBodyFile, keptFiles.contains(response) { entry.hasBodyFile = false }
      if asksForFreshness {
        entry.state = ResponseFreshness(of: response, at: now, rules: selection.expiryRules)?.state
      }
      if response.decoded.contains(.share), let share = response.share {
        entry.share = share
        entry.share.sharedFile = share.sharedFile.map { ByteString(copying: $0) }
      }
      entry.verdict = try rules.verdict(on: response, &entry.isAgeUnknown)
      return entry
    }
  }

  /// The names of a response.
  private struct Named {
    let id: StoredResponse.ID
    let url: ByteString?
    let key: ByteString?

    /// - Parameter byURL: Whether there are URLs among the requested names; otherwise URL and key may not be decoded.
    init(_ response: borrowing StoredResponse, byURL: Bool) {
      id = response.id
      url = byURL ? response.url : nil
      key = byURL ? response.key : nil
    }
  }

  /// The number of all responses.
  private(set) var responses: Int64 = 0
  /// The space that all responses take, if that is requested.
  private(set) var space = SpaceInUse()
  /// The selected entries that were not passed on yet.
  private var entries: [RemovalPlan.Entry] = []
  /// The expression that took too long; later responses are not checked.
  private var overrun: RegularExpression.Overrun?
  /// The responses that were named but not selected.
  private var named: [Named] = []

  // The frequent reasons: hashing a reason for each response would be slow.
  private var notSelected = KeptEntries()
  private var tooYoung = KeptEntries()
  private var others: [KeepReason: KeptEntries] = [:]

  private let basis: Basis

  private init(_ basis: Basis) {
    self.basis = basis
  }

  /// Counts all responses of a source.
  ///
  /// If few fields decide the selection, the others are decoded only of selected responses.
  ///
  /// - Parameters:
  ///   - measuringKept: Whether to add up bodies, also of responses that are not selected.
  ///   - absent: The requested names; on return, those that no response has.
  ///   - receive: Called with each selected entry, in ascending order of ids.
  static func all(
    of source: any ResponseSource, by basis: Basis, measuringKept: Bool, absent: inout EntryNames,
    _ receive: (RemovalPlan.Entry) throws -> Void
  ) throws -> Self {
    var all = Self(basis)
    var request = ScanRequest(basis.projection, in: .ascending)
    if !basis.selection.isEmpty {
      // Entries whose paths are no regular files are kept, so the file is needed to decide.
      request.choosing = basis.selection.projection.union(basis.pins.projection).union(.file)
      if measuringKept { request.choosing?.formUnion(.body) }
      if basis.needed.contains(.share) { request.choosing?.formUnion(.share) }
    }
    try source.scan(request, into: Self(basis)) { tally in
      if let overrun = tally.overrun { throw overrun }
      tally.removeNames(from: &absent)
      try tally.entries.forEach(receive)
      all.count(tally)
      tally = Self(basis)
      return .next
    }
    return all
  }

  var isFull: Bool { entries.count + named.count >= 256 || overrun != nil }

  mutating func choose(_ response: borrowing StoredResponse) -> Bool {
    guard overrun == nil else { return false }
    count(response)
    do throws(RegularExpression.Overrun) {
      return try select(response)
    } catch {
      overrun = error
      return false
    }
  }

  mutating func insert(_ response: borrowing StoredResponse) {
    do throws(RegularExpression.Overrun) {
      entries.append(try basis.entry(of: response))
    } catch {
      overrun = error
    }
  }

  private mutating func count(_ response: borrowing StoredResponse) {
    responses += 1
    if response.decoded.contains(.share), let share = response.share { space.insert(share) }
  }

  /// Whether a response is selected; if not, counts it by reason.
  private mutating func select(
    _ response: borrowing StoredResponse
  ) throws(RegularExpression.Overrun) -> Bool {
    let decision = try basis.selection.decision(for: response, now: basis.now)
    guard
      let reason = KeepReason(decision)
        ?? KeepReason(ofSelected: response)
        ?? (basis.pins.contains(response) ? .pinned : nil)
    else { return true }
    // A named entry that is not selected is still not absent.
    if decision != .notNamed, let names = basis.selection.names {
      named.append(Named(response, byURL: names.projection.contains(.url)))
    }
    // The sizes of kept bodies may not have been requested.
    let size = response.decoded.contains(.body) ? response.bodySize : nil
    switch reason {
    case .notSelected: notSelected.insert(size)
    case .tooYoung: tooYoung.insert(size)
    default: others[reason, default: KeptEntries()].insert(size)
    }
    return false
  }

  /// Removes the names of these responses from a list.
  private func removeNames(from absent: inout EntryNames) {
    if absent.isEmpty { return }
    for entry in entries {
      absent.remove(entry.version.id, url: entry.url, key: entry.version.key)
    }
    for response in named { absent.remove(response.id, url: response.url, key: response.key) }
  }

  /// Adds the numbers of another tally.
  private mutating func count(_ next: Self) {
    responses += next.responses
    space.insert(next.space)
    notSelected.insert(next.notSelected)
    tooYoung.insert(next.tooYoung)
    for (reason, kept) in next.others { others[reason, default: KeptEntries()].insert(kept) }
  }

  /// The entries that are not selected, by reason.
  var kept: [KeepReason: KeptEntries] {
    var kept = others
    if notSelected.entries > 0 { kept[.notSelected] = notSelected }
    if tooYoung.entries > 0 { kept[.tooYoung] = tooYoung }
    return kept
  }
}

/// Why an entry is kept when others are removed.
public enum KeepReason: String, Hashable, Sendable, CaseIterable {
  /// The user did not select it.
  case notSelected = "not-selected"
  /// It is too young; everything else about it is selected.
  case tooYoung = "too-young"
  /// Its age is unknown; everything else about it is selected.
  case unknownAge = "unknown-age"
  /// Its freshness is unknown; everything else about it is selected.
  case unknownFreshness = "unknown-freshness"
  /// The cache is within its limits with it.
  case withinLimits = "within-limits"
  /// A limit cannot be met even if it is removed.
  case limitCannotBeMet = "limit-cannot-be-met"
  /// A rule keeps it.
  case keptByRule = "kept-by-rule"
  /// It is selected, but its path is no regular file, or a file of it has a name outside of the cache.
  case notARegularFile = "not-a-regular-file"
  /// It is selected, but the configuration pins its URL.
  case pinned

  /// Creates the reason why a selection excludes a response; `nil` if it selects it.
  init?(_ decision: Selection.Decision) {
    switch decision {
    case .selected: return nil
    case .notNamed, .notSelected: self = .notSelected
    case .tooYoung: self = .tooYoung
    case .unknownTime: self = .unknownAge
    case .unknownFreshness: self = .unknownFreshness
    }
  }

  /// Creates the reason why a selected response is kept; `nil` if it is removed.
  init?(ofSelected response: borrowing StoredResponse) {
    // In an Apple store, every row is an entry. Only in a folder can anything have the name of one.
    guard case .file = response.id, response.file == nil else { return nil }
    self = .notARegularFile
  }
}

/// The number and the size of kept entries.
public struct KeptEntries: Hashable, Sendable {
  /// The number of entries.
  public var entries: Int64
  /// The sizes of their bodies, in bytes.
  public var bodyBytes: ByteCount

  /// Creates a total.
  public init(entries: Int64 = 0, bodyBytes: ByteCount = 0) {
    self.entries = entries
    self.bodyBytes = bodyBytes
  }

  /// Subtracts an entry with a body of this size, or without a body.
  mutating func remove(_ size: ByteCount?) {
    entries -= 1
    bodyBytes -= size ?? 0
  }

  /// Subtracts another total.
  mutating func remove(_ others: KeptEntries) {
    entries -= others.entries
    bodyBytes -= others.bodyBytes
  }

  /// Adds another total.
  mutating func insert(_ others: KeptEntries) {
    entries += others.entries
    bodyBytes += others.bodyBytes
  }

  /// Adds an entry with a body of this size, or without a body.
  mutating func insert(_ size: ByteCount?) {
    entries += 1
    bodyBytes += size ?? 0
  }
}
