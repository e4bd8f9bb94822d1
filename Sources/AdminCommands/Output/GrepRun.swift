import Administration
import Bytes
import Files
import Matching
import Rendering
import ResponseArchives
import ResponseStorage

/// The search of all selected entries, and what it has written.
///
/// This thread reads the entries and writes what is found, in their order. Other threads decode and search the bodies.
final class GrepRun {
  private let search: EntrySearch
  private let format: GrepFormat
  private let renderer: GrepRenderer
  private let environment: CommandEnvironment
  private let threadCount: Int
  private var grep: EntryGrep
  private var output: OutputBuffer
  private var tally = GrepTally()
  private var hasOutput = false

  /// The threads, if there are more entries than one batch.
  private var threads: GrepThreads?
  private var batch = GrepThreads.Batch()
  /// The number of batches sent, without the one of which the last body is being sent, and of those written.
  private var (sent, written) = (0, 0)
  /// The number of long bodies sent to each thread.
  private var longBodies: [Int]
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  /// The maximum number of entries and of bytes of a batch. A body that is longer is sent in pieces.
  private static let (mostEntries, mostBytes) = (32, 64 << 10)

  /// Creates a search.
  ///
  /// - Parameter threadCount: The number of threads that search; by default one for each processor, up to 4.
  init(
    search: EntrySearch, format: GrepFormat, renderer: GrepRenderer,
    threadCount: Int = min(processorCount, 4), in environment: CommandEnvironment
  ) {
    (self.search, self.format, self.renderer) = (search, format, renderer)
    self.environment = environment
    self.threadCount = threadCount
    longBodies = Array(repeating: 0, count: threadCount)
    output = OutputBuffer(environment)
    grep = EntryGrep(search, format, renderer, style: environment.outputStyle)
  }

  deinit { threads?.close() }

  /// The exit status for what was found.
  var status: ExitStatus { tally.found == 0 ? .no : tally.incomplete > 0 ? .partly : .done }

  /// Adds an entry to the search.
  func search(_ response: borrowing StoredResponse, _ body: ScannedBody) throws {
    let (response, start) = (copy response, batch.bytes.count)
    var isThere = search.parts.contains(.body)
    var failure: (any Error)?
    var lane: Int?
    if isThere {
      do {
        isThere = try body.read { reader in
          while case let count = try reader.read(into: &buffer), count > 0 {
            guard let lane else {
              lane = try insert(buffer[..<count], of: response, from: start)
              if batch.bytes.count - start == count,
                search.isBinary(buffer[..<count], of: response)
              {
                break
              }
              continue
            }
            try send(.piece(Array(buffer[..<count])))
            if threads?.isUnwanted(longBodies[lane], by: lane) == true { break }
          }
        }
      } catch let error as WritingFailure { throw error.error } catch { failure = error }
    }
    if let lane {
      try write { () throws(WritingFailure) in try send(.end(failure)) }
      longBodies[lane] += 1
      sent += 1
      return
    }
    let content: GrepThreads.Batch.Content =
      if let failure { .failure(failure) } else if isThere {
        .bytes(start..<batch.bytes.count)
      } else {
        .missing
      }
    batch.entries.append((response, content))
    if batch.entries.count >= Self.mostEntries || batch.bytes.count >= Self.mostBytes {
      try write { () throws(WritingFailure) in _ = try sendBatch() }
      sent += 1
    }
  }

  /// Adds bytes of a body to the batch, and sends it if the body is long.
  ///
  /// - Returns: The thread to which the rest of the body must be sent.
  private func insert(
    _ piece: ArraySlice<UInt8>, of response: StoredResponse, from start: Int
  ) throws(WritingFailure) -> Int? {
    batch.bytes += piece
    guard batch.bytes.count - start >= Self.mostBytes else { return nil }
    batch.entries.append((response, .start(start..<batch.bytes.count)))
    return try sendBatch()
  }

  /// Sends the batch, and returns the thread that gets it.
  private func sendBatch() throws(WritingFailure) -> Int {
    if threads == nil { threads = GrepThreads(threadCount, grep) }
    try send(.batch(batch))
    batch = GrepThreads.Batch()
    return sent % threadCount
  }

  /// Sends something to the thread of the current batch, and meanwhile writes what others have found.
  private func send(_ input: GrepThreads.Input) throws(WritingFailure) {
    guard let threads else { return }
    while let outputs = threads.send(
      input, to: sent % threadCount, orReceiveFrom: written % threadCount)
    {
      do { try write(outputs) } catch { throw WritingFailure(error: error) }
    }
  }

  /// Ends the search, and reports what was not searched.
  func finish() throws {
    try finishBatches()
    if format == .json {
      renderer.appendSummary(
        tally.total, entries: tally.entries, found: tally.found, into: &output.text)
    }
    try output.flush()
    reportGaps()
  }

  /// Searches what was added, and writes what is found.
  func finishBatches() throws {
    guard let threads else {
      for (response, content) in batch.entries {
        let body = ArrivingBody(content, of: batch) { nil }
        try grep.search(response, body.scanned) { text in
          try write(text.bytes[...])
          text.removeAll()
        }
      }
      try write(grep.text.bytes[...])
      return count(grep.tally)
    }
    if !batch.entries.isEmpty {
      try write { () throws(WritingFailure) in _ = try sendBatch() }
      sent += 1
    }
    while written < sent { try write(threads.receive(from: written % threadCount)) }
  }

  private func write(_ outputs: [GrepThreads.Output]) throws {
    for output in outputs {
      switch output {
      case .text(let bytes): try write(bytes[...])
      case .done(let tally):
        written += 1
        count(tally)
      case .failure(let error): throw error
      }
    }
  }

  private func write(_ bytes: ArraySlice<UInt8>) throws {
    var bytes = bytes
    // Each group of lines begins with a separator, as no thread knows what others have found before.
    if renderer.separatesGroups, format == .table, !hasOutput, !bytes.isEmpty {
      bytes = bytes.dropFirst(GrepRenderer.separator.utf8.count)
    }
    if !bytes.isEmpty { hasOutput = true }
    output.text.append(contentsOf: bytes)
    try output.flushIfLarge()
  }

  /// Calls `body`, and throws the error of writing that ended it.
  private func write(_ body: () throws(WritingFailure) -> Void) throws {
    do throws(WritingFailure) { try body() } catch { throw error.error }
  }

  private func count(_ other: GrepTally) {
    let named = tally.reasons.count
    tally.add(other)
    for reason in tally.reasons[named...] { environment.note(reason) }
  }

  private func reportGaps() {
    if tally.incomplete > GrepTally.mostNamed {
      environment.note("entries that were not searched completely: \(tally.incomplete)")
    }
    if tally.binary > 0 {
      environment.note(
        "not searched, because they are not text: \(tally.binary); search them with '--binary'")
    }
    for (coding, count) in tally.coded.sorted(by: { $0.key < $1.key }) {
      environment.note("not searched, because they are compressed with \(coding): \(count)")
    }
    if tally.missing > 0 {
      environment.note("not searched, because the body is missing: \(tally.missing)")
    }
  }
}

/// An error of writing what was found, which is no error of the body that is being read.
private struct WritingFailure: Error {
  let error: any Error
}
