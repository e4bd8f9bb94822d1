import Administration
public import Bytes
import Fetching
public import Files
public import ResponseStorage
public import SQLite

/// The changes to stored responses after validation, decided before anything is changed.
///
/// Its entries are in a temporary database: memory does not grow with their number. ``finish()`` must be called after the
/// last was inserted.
public final class RevalidationPlan {
  /// The permitted changes.
  public struct Changes: Hashable, Sendable {
    /// Whether a 304 updates the stored response, and a 200 replaces it.
    public var refreshes = false
    /// Whether responses that have changed on the server are removed.
    public var removesChanged = false
    /// Whether responses that no longer exist on the server are removed.
    public var removesGone = false
    /// Whether an empty body may replace one that is not.
    public var allowsEmpty = false

    /// Creates changes that permit nothing.
    public init() {}

    /// Whether nothing is changed, regardless of the server's responses.
    public var isNothing: Bool { !refreshes && !removesChanged && !removesGone }
  }

  /// What happens to a stored response.
  public enum Action: String, Hashable, Sendable, CaseIterable {
    /// Nothing.
    case none
    /// Its header fields are updated (RFC 9111 §4.3.4).
    case freshen
    /// It is replaced by the server's response.
    case replace
    /// Its partial body is completed with the rest (RFC 9110 §15.3.7.3).
    case complete
    /// It is removed.
    case remove
  }

  /// Why a stored response is not refreshed or removed although that was requested.
  public enum SkipReason: String, Hashable, Sendable, CaseIterable {
    /// The 304 has no validator, so it is unknown which response it confirms (RFC 9111 §4.3.4).
    case noValidatorIn304 = "no-validator-in-304"
    /// A cache may not store the server's response (RFC 9111 §3).
    case notStorable = "not-storable"
    /// The server sent the rest of the body, which could not be joined.
    case partialContent = "partial-content"
    /// The server's response may be a variant of the stored one (RFC 9110 §12.5.5).
    case otherVariant = "other-variant"
    /// The server's body is empty, and the stored one is not.
    case emptyBody = "empty-body"
    /// The origin server answers 304 although it has something else, even without conditions.
    case bodyNotSent = "body-not-sent"
    /// It is pinned, so it is not removed.
    case pinned
    /// Its key or its status is missing, so that it cannot be written anew.
    case incompleteEntry = "incomplete-entry"
    /// It may have been stored with credentials, which the cache does not record, so it is not removed.
    case credentialsUnknown = "credentials-unknown"
  }

  private let changes: Changes
  private let isPinned: (ValidationRequest) -> Bool
  private let database: Scratch
  private var insertion: Statement
  private var outcomes: [ValidationResult.Outcome: Int64] = [:]
  private var actions: [Action: Int64] = [:]
  // In memory, because a full disk must not hide what was changed.
  private var skippedRefreshes = EntryIDSet()
  private var skippedRemovals = EntryIDSet()
  private var skipped: [Action: Int64] = [:]

  /// The number of stored responses.
  public private(set) var count: Int64 = 0

  /// The number of stored responses for which a request was sent.
  public private(set) var askedCount: Int64 = 0

  /// The number of stored responses for which no request was sent because it would have had credentials.
  public private(set) var withheldCount: Int64 = 0

  /// The number of stored responses that are not refreshed or removed although that was requested.
  public private(set) var hinderedCount: Int64 = 0

  /// The number of stored responses that stay as they are although the origin server has something else.
  public private(set) var outdatedCount: Int64 = 0

  /// The size of bodies that did not have to be sent because the stored ones are still valid, in bytes.
  public private(set) var savedBytes: ByteCount = 0

  /// Creates a plan without entries.
  ///
  /// - Parameter isPinned: Whether a stored response must not be removed.
  public init(
    making changes: Changes,
    keepingPinned isPinned: @escaping (ValidationRequest) -> Bool = { _ in false }
  ) throws(FileError) {
    (self.changes, self.isPinned) = (changes, isPinned)
    database = try Scratch(
      tables: [
        "CREATE TABLE entries(number INTEGER PRIMARY KEY, change INTEGER, id, entry BLOB)"
      ])
    insertion = try database.prepare("INSERT INTO entries VALUES(?1, ?2, ?3, ?4)")
  }

  /// Decides what happens to a stored response.
  ///
  /// - Parameter number: Its place in the plan.
  public func insert(_ result: ValidationResult, at number: Int64) throws(FileError) {
    let entry = Entry(result, making: changes, isPinned: isPinned)
    try database.restart(&insertion, number, entry.action.change.rawValue)
    try database.bind(to: &insertion) { statement throws(SQLiteError) in
      try statement.bind(entry.version.id, at: 3)
      try statement.bind(row: entry, at: 4)
    }
    _ = try database.step(&insertion)
    count += 1
    outcomes[entry.outcome, default: 0] += 1
    actions[entry.action, default: 0] += 1
    if entry.wasAsked { askedCount += 1 }
    if entry.reason == .skipReason(.needsCredentials) { withheldCount += 1 }
    if entry.skipReason != nil { hinderedCount += 1 }
    if entry.action == .none, entry.outcome.meansOutdated { outdatedCount += 1 }
    savedBytes += entry.savedBytes
  }

  /// Writes everything to disk, so that nothing needs more room once changes have begun.
  public func finish() throws(FileError) {
    try database.execute("CREATE INDEX changes ON entries(change, id)")
    try database.complete()
  }

  /// Records that nothing happened to an entry because it had changed or was removed meanwhile.
  ///
  /// Entries to refresh must be skipped in ascending order of ids, and so must those to remove.
  public func skip(_ entry: Entry) {
    switch entry.action.change {
    case .none: return
    case .refresh: skippedRefreshes.append(entry.version.id)
    case .removal: skippedRemovals.append(entry.version.id)
    }
    skipped[entry.action, default: 0] += 1
  }

  private func isSkipped(_ entry: Entry) -> Bool {
    switch entry.action.change {
    case .none: false
    case .refresh: skippedRefreshes.contains(entry.version.id)
    case .removal: skippedRemovals.contains(entry.version.id)
    }
  }

  /// Returns the number of stored responses with an outcome.
  public func count(_ outcome: ValidationResult.Outcome) -> Int64 { outcomes[outcome] ?? 0 }

  /// Returns the number of stored responses with an action.
  public func count(_ action: Action) -> Int64 { actions[action] ?? 0 }

  /// Returns the number of stored responses with an action that was not skipped.
  public func doneCount(_ action: Action) -> Int64 { count(action) - (skipped[action] ?? 0) }

  /// The number of stored responses that were skipped.
  public var skippedCount: Int64 { skipped.values.reduce(0, +) }

  /// The number of stored responses that are changed.
  public var changedCount: Int64 { count - count(.none) }

  /// Calls `body` with each entry, in the order of the requests.
  ///
  /// - Throws: `FileError` if the entries cannot be read, or the error that `body` throws.
  public func forEach(_ body: (Entry, _ isSkipped: Bool) throws -> Void) throws {
    skippedRefreshes.finish()
    skippedRemovals.finish()
    var rows = try database.prepare("SELECT entry FROM entries ORDER BY number")
    while try database.step(&rows) {
      let entry: Entry = try database.row(rows, at: 0)
      try body(entry, isSkipped(entry))
    }
  }

  /// Returns a reader of the entries to refresh, in ascending order of ids.
  public func makeRefreshReader() throws(FileError) -> Reader { try reader(of: .refresh) }

  /// Returns a reader of the entries to remove, in ascending order of ids.
  public func makeRemovalReader() throws(FileError) -> Reader { try reader(of: .removal) }

  /// Returns a reader of the entries to refresh or to remove, as they were when the requests were created.
  public func makeVersionReader() throws(FileError) -> VersionReader {
    try VersionReader(refreshes: makeRefreshReader(), removals: makeRemovalReader())
  }

  /// Reads the versions of entries to change, in ascending order of ids.
  public struct VersionReader: ~Copyable {
    private var refreshes: Reader
    private var removals: Reader
    private var refresh: ResponseVersion?
    private var removal: ResponseVersion?

    fileprivate init(refreshes: consuming Reader, removals: consuming Reader) throws(FileError) {
      (refresh, removal) = (try refreshes.next()?.version, try removals.next()?.version)
      self.refreshes = refreshes
      self.removals = removals
    }

    /// Returns the next version; `nil` at the end.
    public mutating func next() throws(FileError) -> ResponseVersion? {
      guard let refresh, removal.map({ refresh.id < $0.id }) ?? true else {
        let next = removal
        removal = try removals.next()?.version
        return next
      }
      self.refresh = try refreshes.next()?.version
      return refresh
    }
  }

  private func reader(of change: Change) throws(FileError) -> Reader {
    var rows = try database.prepare("SELECT entry FROM entries WHERE change = ?1 ORDER BY id")
    try database.restart(&rows, change.rawValue)
    return Reader(plan: self, rows: rows)
  }

  /// Reads entries.
  public struct Reader: ~Copyable {
    fileprivate let plan: RevalidationPlan
    fileprivate var rows: Statement
    // A statement that is stepped after its last row begins again.
    private var isAtEnd = false

    fileprivate init(plan: RevalidationPlan, rows: consuming Statement) {
      self.plan = plan
      self.rows = rows
    }

    /// Returns the next entry; `nil` at the end.
    public mutating func next() throws(FileError) -> Entry? {
      if isAtEnd { return nil }
      isAtEnd = try !plan.database.step(&rows)
      return isAtEnd ? nil : try plan.database.row(rows, at: 0)
    }

    /// Returns the next entries; fewer at the end.
    public mutating func next(_ count: Int) throws(FileError) -> [Entry] {
      var entries: [Entry] = []
      while entries.count < count, let entry = try next() { entries.append(entry) }
      return entries
    }
  }
}

/// The kind of change that a plan makes to an entry.
private enum Change: Int64 {
  case none, refresh, removal
}

extension RevalidationPlan.Action {
  fileprivate var change: Change {
    switch self {
    case .none: .none
    case .freshen, .replace, .complete: .refresh
    case .remove: .removal
    }
  }
}

extension ValidationResult.Outcome {
  /// Whether the origin server has something else than what is stored.
  fileprivate var meansOutdated: Bool {
    switch self {
    case .incomplete, .changed, .rolledBack, .gone, .redirected: true
    case .unchanged, .noValidator, .needsCredentials, .notAsked, .failed: false
    }
  }
}

extension RevalidationPlan.Entry: ScratchRow {
  public func pack(into values: inout PackedValues) {
    values.append(version: version)
    values.append(url == version.key)
    if url != version.key { values.append(url) { $0.append($1) } }
    values.append(bodySize) { $0.append($1.bytes) }
    values.append(wasAsked)
    values.append(sent: sent)
    values.append(choice: credentials)
    values.append(response) { $0.append(response: $1) }
    values.append(choice: outcome)
    values.append(decider) { $0.append(choice: $1) }
    values.append(reason) { $0.append(reason: $1) }
    values.append(joined) {
      $0.append(pieces: $1.pieces)
      $0.append($1.keptSize.bytes)
      $0.append($1.size.bytes)
    }
    values.append(misfit) { $0.append(choice: $1) }
    values.append(savedBytes.bytes)
    values.append(choice: action)
    values.append(skipReason) { $0.append(choice: $1) }
  }

  public init(from reader: inout PackedReader) throws(PackedReader.Failure) {
    typealias Failure = PackedReader.Failure
    let version = try reader.version()
    let url = try reader.flag() ? version.key : try reader.optionalText()
    self.init(
      version: version, url: url,
      bodySize: try reader.optionalNumber().map { ByteCount($0) },
      wasAsked: try reader.flag(), sent: try reader.sent(),
      credentials: try reader.choice(),
      response: try reader.optional { reader throws(Failure) in try reader.response() },
      outcome: try reader.choice(),
      decider: try reader.optional { reader throws(Failure) in try reader.choice() },
      reason: try reader.optional { reader throws(Failure) in try reader.reason() },
      joined: try reader.optional { reader throws(Failure) in
        JoinedBody(
          pieces: try reader.pieces(), keptSize: ByteCount(try reader.number()),
          size: ByteCount(try reader.number()))
      },
      misfit: try reader.optional { reader throws(Failure) in try reader.choice() },
      savedBytes: ByteCount(try reader.number()), action: try reader.choice(),
      skipReason: try reader.optional { reader throws(Failure) in try reader.choice() })
  }
}

extension PackedValues {
  /// Appends the reason of an outcome.
  fileprivate mutating func append(reason: ValidationResult.Reason) {
    switch reason {
    case .status: append(0)
    case .contradiction: append(1)
    case .skipReason(let skipReason):
      append(2)
      append(choice: skipReason)
    case .failure(let failure):
      append(3)
      append(failure.payload)
    }
  }
}

extension PackedReader {
  /// Reads the reason of an outcome.
  fileprivate mutating func reason() throws(Failure) -> ValidationResult.Reason {
    switch try number() {
    case 0: return .status
    case 1: return .contradiction
    case 2: return .skipReason(try choice())
    default:
      guard let failure = FetchFailure(payload: try data()) else { throw Failure() }
      return .failure(failure)
    }
  }
}
