import Bytes
import Files
import ResponseStorage

/// Passes entries to threads, and passes on the results in the order of the entries.
///
/// This thread reads the entries and their bodies, and works on those with a long body itself.
final class EntryBatches<Work: EntryWork> {
  /// An entry with its body as stored.
  private struct Entry: Sendable {
    let response: StoredResponse
    /// `nil` if there is none, or none is wanted.
    var body: Result<[UInt8]?, any Error>

    /// The body for a search.
    var scanned: ScannedBody {
      ScannedBody { [body] search in
        guard let bytes = try body.get() else { return false }
        var reader = BodyReader(bytes)
        try search(&reader)
        return true
      }
    }
  }

  /// A body that was opened, of which nothing was read.
  private final class OpenedBody {
    private var reader: BodyReader

    init(_ reader: consuming BodyReader) { self.reader = reader }

    var scanned: ScannedBody {
      ScannedBody { [self] search in
        try search(&reader)
        return true
      }
    }
  }

  /// The work, before any entry.
  let initialWork: Work
  /// Whether the work needs the bodies of entries.
  let wantsBodies: Bool
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)
  private let threads: OrderedParallelMap<Entry, Work.Part, Work.Summary>

  /// The size of the longest body that is passed to a thread.
  private static var longestBody: ByteCount { 1_048_576 }
  /// About what an entry needs without its body.
  private static var bytesOfEntry: ByteCount { 2_048 }

  /// Creates an empty batch.
  ///
  /// - Parameter wantsBodies: Whether the work needs the bodies of entries.
  init(_ work: Work, wantsBodies: Bool = true) {
    (initialWork, self.wantsBodies) = (work, wantsBodies)
    threads = OrderedParallelMap("EntryBatches") {
      var work = work
      return { entries, send in
        for entry in entries { try work.process(entry.response, entry.scanned, send) }
        return try work.endBatch(send)
      }
    }
  }

  /// Adds an entry.
  ///
  /// - Parameter receive: Takes results of this entry and of earlier ones.
  func add(
    _ response: borrowing StoredResponse, _ body: ScannedBody,
    _ receive: (EntryWorkResult<Work>) throws -> Void
  ) throws {
    var entry = Entry(response: copy response, body: .success(nil))
    var wasDone: Result<Bool, any Error> = .success(false)
    if wantsBodies {
      do {
        _ = try body.read { reader in
          guard reader.size > Self.longestBody else {
            var bytes: [UInt8] = []
            // What a file has grown by since it was opened is no part of what is searched.
            while ByteCount(bytes.count) <= Self.longestBody,
              case let count = try reader.read(into: &buffer), count > 0
            {
              bytes += buffer[..<count]
            }
            entry.body = .success(bytes)
            return
          }
          wasDone = Result {
            try work(on: entry.response, &reader, receive)
            return true
          }
        }
      } catch { entry.body = .failure(error) }
    }
    if try wasDone.get() { return }
    let size = (try? entry.body.get())?.count ?? 0
    threads.add(entry, byteCount: Self.bytesOfEntry + ByteCount(size))
    try threads.forEachResult(all: false, receive)
  }

  /// Works on an entry with a long body on this thread, after all entries before it.
  private func work(
    on response: StoredResponse, _ reader: inout BodyReader,
    _ receive: (EntryWorkResult<Work>) throws -> Void
  ) throws {
    try finish(receive)
    var work = initialWork
    let opened = OpenedBody(reader)
    reader = BodyReader([])
    try work.process(response, opened.scanned) { part, _ in try receive(.part(part)) }
    try receive(.summary(work.endBatch { part, _ in try receive(.part(part)) }))
  }

  /// Works on everything that was added, and waits for the results; after a failure, for nothing.
  func finish(_ receive: (EntryWorkResult<Work>) throws -> Void) throws {
    try threads.forEachResult(all: true, receive)
  }
}
