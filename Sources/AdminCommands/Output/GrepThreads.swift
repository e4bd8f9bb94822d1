import Bytes
import Files
import Rendering
import ResponseArchives
import ResponseStorage

/// The threads of a search, and what they exchange with the thread that reads the cache.
///
/// Entries travel in batches, which the threads take in turns. Bodies and results wait in limited numbers of bytes, so that
/// neither the size of a body nor the number of its matches determines how much memory is needed. The reading thread
/// never waits for room alone: it also takes the results of the oldest batch, so that each thread can go on.
final class GrepThreads: Sendable {
  /// What the reading thread sends.
  enum Input: Sendable {
    case batch(Batch)
    /// The next bytes of the last body of the batch.
    case piece([UInt8])
    /// The end of the last body of the batch, or the error that ended it.
    case end((any Error)?)
  }

  /// Consecutive entries, with their bodies as stored.
  struct Batch: Sendable {
    /// The body of an entry.
    enum Content: Sendable {
      case missing
      case bytes(Range<Int>)
      /// The first bytes; the rest follows.
      case start(Range<Int>)
      /// A body that could not be read.
      case failure(any Error)
    }

    var entries: [(response: StoredResponse, body: Content)] = []
    /// The bytes of the bodies.
    var bytes: [UInt8] = []
  }

  /// What a searching thread sends.
  enum Output: Sendable {
    case text([UInt8])
    /// The end of a batch.
    case done(GrepTally)
    /// The error that ended the search.
    case failure(any Error)
  }

  /// What waits for a searching thread, and what it has found.
  private struct Lane: Sendable {
    var inputs: [Input] = []
    var inputBytes = 0
    var outputs: [Output] = []
    var outputBytes = 0
    /// The number of ends of bodies that were received.
    var endCount = 0
    /// The number of the body of which no more is wanted.
    var unwanted: Int?
    var isClosed = false

    func hasRoom(for bytes: Int) -> Bool {
      inputs.isEmpty || inputBytes + bytes <= GrepThreads.mostInput
    }
  }

  /// The number of bytes that wait for a thread, and of those that it has found.
  private static let (mostInput, mostOutput) = (256 << 10, 128 << 10)
  /// About what an entry needs without its body.
  private static let bytesOfEntry = 2 << 10

  // One for each thread, so that no thread is woken by what concerns another.
  private let lanes: [Monitor<Lane>]

  /// Starts the threads.
  init(_ count: Int, _ grep: EntryGrep) {
    lanes = (0..<count).map { _ in Monitor(Lane()) }
    for lane in lanes {
      BackgroundThread.start("GrepThreads") {
        var grep = grep
        while case .batch(let batch)? = Self.receiveInput(lane) {
          do { try Self.search(batch, with: &grep, lane) } catch {
            return Self.send(.failure(error), from: lane)
          }
        }
      }
    }
  }

  /// Ends the threads.
  func close() {
    for lane in lanes { lane.update { $0.isClosed = true } }
  }

  // MARK: The reading thread

  /// Sends something to a thread, or else receives what another thread has found.
  ///
  /// - Parameter oldest: The thread with the oldest batch.
  /// - Returns: The next results of that batch, if there was no room; `nil` if `input` was sent.
  func send(_ input: Input, to lane: Int, orReceiveFrom oldest: Int) -> [Output]? {
    let bytes = Self.bytes(of: input)
    // The oldest batch is complete unless it is the one that is being sent, so its thread comes to its end.
    if lane != oldest, !lanes[lane].withLock({ $0.hasRoom(for: bytes) }) {
      return receive(from: oldest)
    }
    return lanes[lane].update(when: { $0.hasRoom(for: bytes) || !$0.outputs.isEmpty }) { lane in
      guard lane.hasRoom(for: bytes) else { return Self.takeOutputs(&lane) }
      lane.inputs.append(input)
      lane.inputBytes += bytes
      return nil
    }
  }

  /// Waits for the next results of the oldest batch of a thread.
  func receive(from lane: Int) -> [Output] {
    lanes[lane].update(when: { !$0.outputs.isEmpty }) { Self.takeOutputs(&$0) }
  }

  /// Whether a thread wants no more of the body that is being sent to it.
  ///
  /// - Parameter number: The number of long bodies that were sent to the thread before.
  func isUnwanted(_ number: Int, by lane: Int) -> Bool {
    lanes[lane].withLock { $0.unwanted == number }
  }

  /// Takes results up to the end of a batch.
  private static func takeOutputs(_ lane: inout Lane) -> [Output] {
    let end = lane.outputs.firstIndex { if case .text = $0 { false } else { true } }
    let outputs = Array(lane.outputs.prefix(end.map { $0 + 1 } ?? lane.outputs.count))
    lane.outputs.removeFirst(outputs.count)
    for case .text(let text) in outputs { lane.outputBytes -= text.count }
    return outputs
  }

  private static func bytes(of input: Input) -> Int {
    switch input {
    case .batch(let batch): batch.bytes.count + batch.entries.count * bytesOfEntry
    case .piece(let bytes): bytes.count
    case .end: 0
    }
  }

  // MARK: The searching threads

  private static func search(
    _ batch: Batch, with grep: inout EntryGrep, _ lane: Monitor<Lane>
  ) throws {
    for (response, content) in batch.entries {
      let body = ArrivingBody(content, of: batch) { receiveInput(lane) }
      try grep.search(response, body.scanned) { send(takeText(&$0), from: lane) }
      if body.isArriving {
        lane.update { $0.unwanted = $0.endCount }
        body.skipRest()
      }
    }
    if !grep.text.bytes.isEmpty { send(takeText(&grep.text), from: lane) }
    send(.done(grep.tally), from: lane)
    grep.tally = GrepTally()
  }

  private static func takeText(_ text: inout TextBuffer) -> Output {
    defer { text.removeAll() }
    return .text(text.bytes)
  }

  /// Waits for the next input; `nil` if the threads were ended.
  private static func receiveInput(_ lane: Monitor<Lane>) -> Input? {
    lane.update(when: { !$0.inputs.isEmpty || $0.isClosed }) { lane in
      guard !lane.isClosed else { return nil }
      let input = lane.inputs.removeFirst()
      lane.inputBytes -= bytes(of: input)
      if case .end = input { lane.endCount += 1 }
      return input
    }
  }

  private static func send(_ output: Output, from lane: Monitor<Lane>) {
    lane.update(when: { $0.outputBytes < mostOutput || $0.isClosed }) { lane in
      guard !lane.isClosed else { return }
      lane.outputs.append(output)
      if case .text(let text) = output { lane.outputBytes += text.count }
    }
  }
}
