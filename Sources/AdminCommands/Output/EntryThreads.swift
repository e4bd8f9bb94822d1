import Files
import ResponseStorage

/// The threads that work on entries, and what they exchange with the thread that reads the cache.
///
/// Entries travel in batches, which the threads take in turns. Bodies and results wait in limited numbers of bytes, so that
/// neither the size of a body nor the number of its matches determines how much memory is needed. The reading thread
/// never waits for room alone: it also takes the results of the oldest batch, so that each thread can go on.
final class EntryThreads<Work: EntryWork>: Sendable {
  /// What a working thread sends.
  enum Output: Sendable {
    case part(Work.Part, bytes: Int)
    /// The end of a batch.
    case done(Work.Summary)
    /// The error that ended the work.
    case failure(any Error)
  }

  /// What waits for a working thread, and its results.
  private struct Lane: Sendable {
    var inputs: [EntryInput] = []
    var inputBytes = 0
    var outputs: [Output] = []
    var outputBytes = 0
    /// The number of ends of bodies that were received.
    var endCount = 0
    /// The number of the body of which no more is wanted.
    var unwanted: Int?
    var isClosed = false

    func hasRoom(for bytes: Int) -> Bool {
      inputs.isEmpty || inputBytes + bytes <= EntryThreads.mostInput
    }
  }

  /// The number of bytes that wait for a thread, and of its results.
  private static var mostInput: Int { 256 << 10 }
  private static var mostOutput: Int { 128 << 10 }
  /// About what an entry needs without its body.
  private static var bytesOfEntry: Int { 2 << 10 }

  // One for each thread, so that no thread is woken by what concerns another.
  private let lanes: [Monitor<Lane>]

  /// Starts the threads.
  init(_ count: Int, _ work: Work) {
    lanes = (0..<count).map { _ in Monitor(Lane()) }
    for lane in lanes {
      BackgroundThread.start("EntryThreads") {
        var work = work
        while case .batch(let batch)? = Self.receiveInput(lane) {
          do { try Self.perform(&work, on: batch, lane) } catch {
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
  func send(_ input: EntryInput, to lane: Int, orReceiveFrom oldest: Int) -> [Output]? {
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
    let end = lane.outputs.firstIndex { if case .part = $0 { false } else { true } }
    let outputs = Array(lane.outputs.prefix(end.map { $0 + 1 } ?? lane.outputs.count))
    lane.outputs.removeFirst(outputs.count)
    for case .part(_, let bytes) in outputs { lane.outputBytes -= bytes }
    return outputs
  }

  private static func bytes(of input: EntryInput) -> Int {
    switch input {
    case .batch(let batch): batch.bytes.count + batch.entries.count * bytesOfEntry
    case .piece(let bytes): bytes.count
    case .end: 0
    }
  }

  // MARK: The working threads

  private static func perform(
    _ work: inout Work, on batch: EntryBatch, _ lane: Monitor<Lane>
  ) throws {
    for (response, content) in batch.entries {
      let body = ArrivingBody(content, of: batch) { receiveInput(lane) }
      try work.process(response, body.scanned) { send(.part($0, bytes: $1), from: lane) }
      if body.isArriving {
        lane.update { $0.unwanted = $0.endCount }
        body.skipRest()
      }
    }
    let summary = try work.endBatch { send(.part($0, bytes: $1), from: lane) }
    send(.done(summary), from: lane)
  }

  /// Waits for the next input; `nil` if the threads were ended.
  private static func receiveInput(_ lane: Monitor<Lane>) -> EntryInput? {
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
      if case .part(_, let bytes) = output { lane.outputBytes += bytes }
    }
  }
}
