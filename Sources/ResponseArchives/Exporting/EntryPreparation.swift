import Archive
import Bytes
import Files
import ResponseStorage

/// Prepares the entries of a native archive on background threads.
final class EntryPreparation {
  /// A response whose parts are all in memory. It is safe to send to another thread: only a part that is read from
  /// the store is tied to one thread. The compiler cannot know that, hence `@unchecked`.
  private struct Task: @unchecked Sendable {
    let raw: RawResponse
    let number: Int64
  }

  private let threads: PreparationThreads<Task, [PreparedEntry]>
  private let readsParts: Bool

  /// Starts the threads.
  init(for export: ArchiveExport, into container: ArchiveFormat) {
    readsParts = export.bodies != .none
    // Only for zip, entries are compressed here, which takes most of the time.
    threads = PreparationThreads(most: container == .zip ? 4 : 1) {
      let compressor =
        container == .zip ? try DeflateCompressor(level: export.level ?? 6) : nil
      return { batch in
        try batch.map { task in
          var entry = export.entry(task.raw, number: task.number)
          return try PreparedEntry(
            &entry, temporaryFolder: export.temporaryFolder, compressor: compressor)
        }
      }
    }
  }

  /// Queues a response.
  ///
  /// - Returns: `false`, without queuing it, if a part of it is too large for memory.
  func add(_ raw: RawResponse, number: Int64) throws -> Bool {
    let largest = readsParts ? Body.largestInMemory : nil
    guard let raw = try raw.readingParts(upTo: largest) else { return false }
    threads.add(Task(raw: raw, number: number), byteCount: raw.byteCount)
    return true
  }

  /// Calls `body` with prepared entries, in the order in which they were queued.
  ///
  /// - Parameter all: Whether to wait for all of them. If `false`, waits only while too many entries are queued.
  func forEachPrepared(all: Bool, _ body: (borrowing PreparedEntry) throws -> Void) throws {
    try threads.forEachResult(all: all) { entries in
      // A span avoids retaining and releasing everything in each entry.
      let span = entries.span
      for index in span.indices { try body(span[index]) }
    }
  }
}

extension RawResponse {
  /// Returns the response with all parts in memory; `nil` if one is too large for that.
  ///
  /// - Parameter largest: The size of the largest part that is read, in bytes; `nil` to read none.
  fileprivate func readingParts(upTo largest: ByteCount?) throws -> RawResponse? {
    var read: (index: Int, content: Body)?
    // A span avoids retaining and releasing the bytes of each part, as iterating over the array would.
    let parts = parts.span
    for index in parts.indices {
      guard let content = parts[index].content, content.bytes == nil else { continue }
      // Only a body is ever so large that it is not in memory.
      guard let largest, content.size <= largest, read == nil else { return nil }
      read = (index, try content.inMemory())
    }
    guard let read else { return self }
    var response = self
    response.parts[read.index].content = read.content
    return response
  }
}
