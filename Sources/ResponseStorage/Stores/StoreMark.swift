import Bytes
import Files

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
