public import Bytes
import Files

/// Finds out that a store may have changed, and opens it again and again.
///
/// Between two calls it holds no lock, no transaction and no descriptor of a file of the store. So an app that closes its
/// database meanwhile is the last one to close it, and removes its log as usual.
public final class StoreObserver {
  private var opening: StoreOpening
  private var kind: (any StoreKind.Type)?
  private var events: FolderEvents?
  private var folders: [String] = []
  private var identity: [UInt64] = []
  private var eventCount: Int64 = 0

  /// How many entries the system has reported as stored; `nil` if it reports none, or has lost some.
  public private(set) var arrivals: Int64?

  /// Creates an observer of the store at a path, which need not exist yet.
  public init(_ opening: StoreOpening) { self.opening = opening }

  /// Returns the present mark of the store.
  ///
  /// - Throws: ``StoreError``: `notFound` or `notACache` if there is no store.
  public func mark() throws(StoreError) -> StoreMark {
    let kind = if let kind = self.kind { kind } else { try opening.kind() }
    self.kind = kind
    let folders = kind.observedFolders(at: opening.path)
    var mark = try kind.mark(at: opening.path, isObserved: events != nil)
    if folders.isEmpty { return mark }
    // The new folder of a removed one has another inode, which is not yet observed.
    if identity != mark.identity || folders != self.folders {
      (identity, self.folders) = (mark.identity, folders)
      events = FolderEvents(of: folders)
      arrivals = events == nil ? nil : arrivals ?? 0
      mark = try kind.mark(at: opening.path, isObserved: events != nil)
    }
    guard let events else { return mark }
    for event in events.read() { count(event, kind) }
    mark.events = eventCount
    return mark
  }

  private func count(_ event: FolderEvents.Event, _ kind: any StoreKind.Type) {
    eventCount += 1
    switch event {
    // Foundation renames each file into place, and closes it only then, which is reported with the new name.
    case .renamed(let name): if kind.isEntry(name) { arrivals = arrivals.map { $0 + 1 } }
    case .written, .disappeared: break
    case .lost: arrivals = nil
    }
  }

  /// Opens the store for reading. Release it before the next mark.
  ///
  /// A folder of files remains a store when its last file is removed.
  ///
  /// - Parameter now: The current time; later times count as in the future.
  public func open(at now: Timestamp) throws -> any StoreSource {
    opening.now = now
    return try (kind ?? opening.kind()).init(opening)
  }

  /// Forgets which kind of store it is, because the store is gone.
  public func forget() {
    kind = nil
    events = nil
    (identity, folders) = ([], [])
  }

  /// Waits, but only until the system reports a change.
  public func wait(milliseconds: Int) {
    if let events {
      events.wait(milliseconds: milliseconds)
    } else {
      CurrentProcess.sleep(milliseconds: milliseconds)
    }
  }
}

/// What shows, without opening a store, that it may have changed.
public struct StoreMark: Sendable {
  /// A file as it was.
  struct File: Hashable {
    let identity: [UInt64]
    let size: ByteCount
    let modified: Int64

    init(_ status: FileStatus) {
      identity = status.identity
      size = status.size
      modified = status.modified
    }
  }

  /// A count of transactions that SQLite keeps.
  struct Counter: Hashable {
    /// The file that it is in.
    let file: [UInt64]
    let value: UInt32
    /// Whether it begins at zero in a new file.
    let beginsAtZero: Bool
  }

  /// The device and inode of the database or the folder; others mean that the cache was replaced.
  public let identity: [UInt64]
  /// The files that every change changes.
  private let files: [File?]
  /// Bytes that every change changes.
  private let header: [UInt8]
  private let counter: Counter?
  /// Whether a file was modified so recently that a second change could have the same time.
  private let isYoung: Bool
  /// How many events the system has reported.
  var events: Int64?

  /// The time within which two changes of a file can have the same time, in seconds: a few clock ticks.
  private static let tick = 0.02

  init(of main: FileStatus, _ others: [FileStatus?] = [], header: [UInt8], counter: Counter?) {
    identity = main.identity
    files = ([main] + others).map { $0.map(File.init) }
    self.header = header
    self.counter = counter
    let newest = files.compactMap { $0?.modified }.max() ?? 0
    isYoung = LocalTime.now() - Double(newest) / 1e9 < Self.tick
  }

  /// Whether the store may have changed since an earlier mark.
  public func mayDiffer(from earlier: StoreMark) -> Bool {
    identity != earlier.identity || files != earlier.files || header != earlier.header
      || events != earlier.events
      // Only times could tell, and they cannot yet.
      || earlier.isYoung && counter == nil && events == nil
  }

  /// The number of transactions since an earlier mark; `nil` if it is unknown.
  public func transactions(since earlier: StoreMark) -> Int64? {
    guard let counter, identity == earlier.identity else { return nil }
    guard let before = earlier.counter, before.file == counter.file else {
      return counter.beginsAtZero ? Int64(counter.value) : nil
    }
    // The counter wraps, and an index that was built again begins at zero.
    let count = counter.value &- before.value
    return count < 1 << 31 ? Int64(count) : nil
  }
}
