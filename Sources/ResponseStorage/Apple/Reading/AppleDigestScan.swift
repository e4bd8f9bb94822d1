import Files
import SQLite

/// A scan of the digests of all entries of a large Apple store on several threads, each with its own connection.
///
/// The entries come in no order, so each thread reads one range of ids after the other.
final class AppleDigestScan: Sendable {
  private enum Message: Sendable {
    case entries([DigestedEntry])
    case failure(any Error)
    case end
  }

  private let messages = Channel<Message>()
  /// How many more lists of entries may wait: a thread takes one before it sends a list.
  private let permits = Channel<Bool>()
  private let parts = Channel<ClosedRange<Int64>>()
  private let ends: [Channel<Bool>]

  /// Starts the threads.
  ///
  /// - Parameters:
  ///   - database: The path of a database that no process changes.
  ///   - folder: The path of the folder of body files.
  ///   - ranges: The ranges of ids.
  init(
    of database: String, _ layout: AppleLayout, bodiesAt folder: String,
    readingBodies readsBodies: Bool, in ranges: [ClosedRange<Int64>], threadCount: Int
  ) {
    ends = (0..<threadCount).map { _ in Channel<Bool>() }
    for range in ranges { parts.send(range) }
    parts.close()
    for end in ends {
      for _ in 0..<2 { permits.send(true) }
      let (messages, permits, parts) = (messages, permits, parts)
      BackgroundThread.start("AppleDigestScan") {
        defer { end.close() }
        do {
          let connection = try Connection(path: database, access: .immutable)
          // In KiB: all tables are read in their order, so a page is soon no longer needed.
          try connection.execute("PRAGMA cache_size = -512")
          var reader = try AppleContentReader(
            connection, layout, bodiesAt: folder, readingBodies: readsBodies)
          while let part = parts.receive() {
            try reader.begin(in: part)
            var isAtEnd = false
            while !isAtEnd {
              guard permits.receive() != nil else { return }
              let entries = try reader.nextEntries()
              isAtEnd = entries.isEmpty
              messages.send(.entries(entries))
            }
          }
          messages.send(.end)
        } catch {
          messages.send(.failure(error))
        }
      }
    }
  }

  /// Calls `body` with each entry.
  func forEachEntry(_ body: (DigestedEntry) throws -> Void) throws {
    var running = ends.count
    while running > 0, let message = messages.receive() {
      switch message {
      case .entries(let entries):
        for entry in entries { try body(entry) }
        permits.send(true)
      case .failure(let error): throw error
      case .end: running -= 1
      }
    }
  }

  deinit {
    permits.close()
    // Discard the permits that are left, so that the threads stop.
    while permits.receive() != nil {}
    // Wait until each thread has closed its files, which must happen before the snapshot ends.
    for end in ends { while end.receive() != nil {} }
  }
}

extension AppleContentReader {
  /// Returns the next entries of the range; none at its end.
  fileprivate mutating func nextEntries() throws -> [DigestedEntry] {
    var entries: [DigestedEntry] = []
    while entries.count < 512, let entry = try next() {
      WorkCounter.add()
      entries.append(entry)
    }
    return entries
  }
}
