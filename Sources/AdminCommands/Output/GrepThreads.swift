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
  }

  private struct State: Sendable {
    var lanes: [Lane]
    var isClosed = false
  }

  /// The number of bytes that wait for a thread, and of those that it has found.
  private static let (mostInput, mostOutput) = (256 << 10, 128 << 10)
  /// About what an entry needs without its body.
  private static let bytesOfEntry = 2 << 10

  private let monitor: Monitor<State>
  /// The number of threads.
  let count: Int

  /// Starts the threads.
  init(_ count: Int, _ grep: EntryGrep) {
    self.count = count
    monitor = Monitor(State(lanes: Array(repeating: Lane(), count: count)))
    for lane in 0..<count {
      BackgroundThread.start("GrepThreads") { [self] in
        var grep = grep
        while case .batch(let batch)? = receiveInput(lane) {
          do { try search(batch, with: &grep, lane) } catch {
            return send(.failure(error), from: lane)
          }
        }
      }
    }
  }

  /// Ends the threads.
  func close() { monitor.update { $0.isClosed = true } }

  // MARK: The reading thread

  /// Sends something to a thread, or else receives what another thread has found.
  ///
  /// - Parameter oldest: The thread with the oldest batch.
  /// - Returns: The next results of that batch, if there was no room; `nil` if `input` was sent.
  func send(_ input: Input, to lane: Int, orReceiveFrom oldest: Int) -> [Output]? {
    let bytes = Self.bytes(of: input)
    func hasRoom(_ lane: borrowing Lane) -> Bool {
      lane.inputs.isEmpty || lane.inputBytes + bytes <= Self.mostInput
    }
    return monitor.update(when: {
      hasRoom($0.lanes[lane]) || !$0.lanes[oldest].outputs.isEmpty
    }) { state in
      guard hasRoom(state.lanes[lane]) else { return Self.takeOutputs(&state.lanes[oldest]) }
      state.lanes[lane].inputs.append(input)
      state.lanes[lane].inputBytes += bytes
      return nil
    }
  }

  /// Waits for the next results of the oldest batch of a thread.
  func receive(from lane: Int) -> [Output] {
    monitor.update(when: { !$0.lanes[lane].outputs.isEmpty }) {
      Self.takeOutputs(&$0.lanes[lane])
    }
  }

  /// Whether a thread wants no more of the body that is being sent to it.
  ///
  /// - Parameter number: The number of long bodies that were sent to the thread before.
  func isUnwanted(_ number: Int, by lane: Int) -> Bool {
    monitor.withLock { $0.lanes[lane].unwanted == number }
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

  private func search(_ batch: Batch, with grep: inout EntryGrep, _ lane: Int) throws {
    for (response, content) in batch.entries {
      let body = ArrivingBody(content, of: batch) { [self] in receiveInput(lane) }
      try grep.search(response, body.scanned) { send(takeText(&$0), from: lane) }
      if body.isArriving {
        monitor.update { $0.lanes[lane].unwanted = $0.lanes[lane].endCount }
        body.skipRest()
      }
    }
    if !grep.text.bytes.isEmpty { send(takeText(&grep.text), from: lane) }
    send(.done(grep.tally), from: lane)
    grep.tally = GrepTally()
  }

  private func takeText(_ text: inout TextBuffer) -> Output {
    defer { text.removeAll() }
    return .text(text.bytes)
  }

  /// Waits for the next input; `nil` if the threads were ended.
  private func receiveInput(_ lane: Int) -> Input? {
    monitor.update(when: { !$0.lanes[lane].inputs.isEmpty || $0.isClosed }) { state in
      guard !state.isClosed else { return nil }
      let input = state.lanes[lane].inputs.removeFirst()
      state.lanes[lane].inputBytes -= Self.bytes(of: input)
      if case .end = input { state.lanes[lane].endCount += 1 }
      return input
    }
  }

  private func send(_ output: Output, from lane: Int) {
    monitor.update(when: { $0.lanes[lane].outputBytes < Self.mostOutput || $0.isClosed }) { state in
      guard !state.isClosed else { return }
      state.lanes[lane].outputs.append(output)
      if case .text(let text) = output { state.lanes[lane].outputBytes += text.count }
    }
  }
}
