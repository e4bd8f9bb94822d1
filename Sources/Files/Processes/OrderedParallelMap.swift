public import Bytes

/// A result of work on a batch of elements.
public enum BatchResult<Part: Sendable, Summary: Sendable>: Sendable {
  /// A part of the results, which is passed on before the end of a batch if there are many.
  case part(Part)
  /// The rest of the results, at the end of a batch.
  case summary(Summary)
}

/// Work on batches of elements on several threads, whose results come in the order of the elements.
///
/// The calling thread adds elements and takes results. Both wait in limited numbers of bytes. The oldest batch never waits
/// for others, so all come to their end.
public final class OrderedParallelMap<Element: Sendable, Part: Sendable, Summary: Sendable> {
  /// Works on a batch. It passes on parts of the results with about how many bytes each takes, and returns the rest.
  public typealias Work = ([Element], _ send: (Part, Int) throws -> Void) throws -> Summary

  /// A batch is sent when it has this many elements or bytes.
  private let (elementsInBatch, bytesInBatch) = (64, ByteCount(128 << 10))
  // While one thread works on a large element, the others need work for as long. Decoded entries take more memory than
  // their bytes, hence two limits.
  /// The numbers of batches and bytes in flight, above which the calling thread waits for results.
  private let (mostBatches, mostBytes) = (16, ByteCount(4 << 20))

  private let name: String
  private let most: Int
  private let makeWork: @Sendable () throws -> Work
  private let batches = Channel<(number: Int, elements: [Element])>()
  private let results = OrderedResults<Part, Summary>()
  private var hasThreads = false
  /// Whether results are being taken, or an error ended that: there are no more then.
  private var isTaking = false
  /// The number of batches whose results were taken.
  private var taken = 0
  /// The sizes of the batches that were sent and whose results were not taken, in order.
  private var inFlight: [ByteCount] = []
  private var bytesInFlight: ByteCount = 0
  private var batch: [Element] = []
  private var batchBytes: ByteCount = 0

  /// Prepares the work.
  ///
  /// - Parameters:
  ///   - name: The name of the threads, for debuggers.
  ///   - most: The largest number of threads; there is at most one for each processor.
  ///   - makeWork: Returns the work of a thread, and is called on it.
  public init(_ name: String, most: Int = 4, _ makeWork: @escaping @Sendable () throws -> Work) {
    (self.name, self.most, self.makeWork) = (name, most, makeWork)
  }

  deinit {
    // The threads wait for batches until the channel is closed. Without this, they would outlive work that failed.
    batches.cancel()
    results.close()
  }

  /// Adds an element.
  ///
  /// - Parameter byteCount: Its approximate size in memory, in bytes.
  public func add(_ element: Element, byteCount: ByteCount) {
    batch.append(element)
    batchBytes += byteCount
    if batch.count >= elementsInBatch || batchBytes >= bytesInBatch { sendBatch() }
  }

  private func sendBatch() {
    startThreads()
    batches.send((taken + inFlight.count, batch))
    inFlight.append(batchBytes)
    bytesInFlight += batchBytes
    batch.removeAll(keepingCapacity: true)
    batchBytes = 0
  }

  private func startThreads() {
    guard !hasThreads else { return }
    hasThreads = true
    for _ in 0..<min(processorCount, most) {
      BackgroundThread.start(name) { [makeWork, batches, results] in
        let work = Result { try makeWork() }
        while let (number, elements) = batches.receive() {
          results.end(
            number,
            with: Result {
              try work.get()(elements) { try results.send($0, bytes: $1, of: number) }
            })
        }
      }
    }
  }

  /// Calls `body` with results, in the order of their elements.
  ///
  /// - Parameter all: Whether to wait for all of them. If `false`, waits only while too much is in flight.
  /// - Throws: The error of the work on a batch, after all results before it, or any error of `body`. After either, there
  ///   are no more results.
  public func forEachResult(
    all: Bool, _ body: (BatchResult<Part, Summary>) throws -> Void
  ) throws {
    guard !isTaking else { return }
    isTaking = true
    if all, !batch.isEmpty {
      if hasThreads { sendBatch() } else { try workHere(body) }
    }
    while let bytes = inFlight.first,
      all || inFlight.count > mostBatches || bytesInFlight > mostBytes
    {
      for result in try results.next(of: taken) {
        try body(result)
        guard case .summary = result else { continue }
        inFlight.removeFirst()
        bytesInFlight -= bytes
        taken += 1
      }
    }
    isTaking = false
  }

  /// Works on the only batch, which is not worth a thread.
  private func workHere(_ body: (BatchResult<Part, Summary>) throws -> Void) throws {
    let elements = batch
    (batch, batchBytes) = ([], 0)
    let summary = try makeWork()(elements) { part, _ in try body(.part(part)) }
    try body(.summary(summary))
  }
}

extension OrderedParallelMap where Part == Never {
  /// Calls `body` with the results of batches, as ``forEachResult(all:_:)`` does.
  public func forEachSummary(all: Bool, _ body: (Summary) throws -> Void) throws {
    try forEachResult(all: all) { if case .summary(let summary) = $0 { try body(summary) } }
  }
}

/// The results of batches, on which several threads work and which one thread takes in order.
///
/// Results wait in a limited number of bytes. The oldest batch never waits for others, so all come to their end.
public final class OrderedResults<Part: Sendable, Summary: Sendable>: Sendable {
  private enum Message: Sendable {
    case part(Part, bytes: Int)
    case done(Summary)
    case failure(any Error)
  }

  private struct State: Sendable {
    /// The number of the oldest batch that is not finished.
    var oldest = 0
    /// What waits, by batch.
    var messages: [Int: [Message]] = [:]
    var bytes = 0
    /// The number of batches, once it is known.
    var count: Int?
    /// Whether no more results are wanted.
    var isClosed = false
  }

  /// An error that ends a thread whose results are not wanted.
  public struct Closed: Error {}

  /// The number of bytes that wait.
  private static var mostBytes: Int { 256 << 10 }

  private let monitor = Monitor(State())

  /// Creates results of batches that are numbered from 0.
  public init() {}

  /// Sends a part of the results of a batch.
  ///
  /// - Throws: ``Closed`` if nothing more is wanted.
  public func send(_ part: Part, bytes: Int, of batch: Int) throws(Closed) {
    let isClosed = monitor.update(when: {
      // The thread that takes the results waits for the oldest batch if none of that is here.
      $0.bytes < Self.mostBytes || $0.isClosed
        || ($0.oldest == batch && $0.messages[batch] == nil)
    }) { state in
      guard !state.isClosed else { return true }
      state.messages[batch, default: []].append(.part(part, bytes: bytes))
      state.bytes += bytes
      return false
    }
    if isClosed { throw Closed() }
  }

  /// Ends a batch.
  public func end(_ batch: Int, with result: Result<Summary, any Error>) {
    let message: Message =
      switch result {
      case .success(let summary): .done(summary)
      case .failure(let error): .failure(error)
      }
    monitor.update { $0.messages[batch, default: []].append(message) }
  }

  /// Sets the number of batches.
  public func setCount(_ count: Int) { monitor.update { $0.count = count } }

  /// Passes on the results of all batches, in their order.
  ///
  /// - Throws: The error of a batch, after all results before it; or any error of `body`.
  public func forEach(_ body: (BatchResult<Part, Summary>) throws -> Void) throws {
    var batch = 0
    while case let results = try next(of: batch), !results.isEmpty {
      for result in results {
        try body(result)
        if case .summary = result { batch += 1 }
      }
    }
  }

  /// Waits for results of the oldest batch that is not finished; none if there is no such batch.
  ///
  /// - Throws: The error of the batch, if there is no result before it.
  fileprivate func next(of batch: Int) throws -> [BatchResult<Part, Summary>] {
    // Before the wait: the thread that works on this batch may be waiting to send its first part.
    monitor.update { $0.oldest = batch }
    return try monitor.update(when: { $0.messages[batch] != nil || $0.count == batch }) { state in
      Result {
        var results: [BatchResult<Part, Summary>] = []
        for (index, message) in (state.messages.removeValue(forKey: batch) ?? []).enumerated() {
          switch message {
          case .part(let part, let bytes):
            state.bytes -= bytes
            results.append(.part(part))
          case .done(let summary): results.append(.summary(summary))
          case .failure(let error):
            // It comes last, after the results that were sent before.
            if index == 0 { throw error }
            state.messages[batch] = [message]
          }
        }
        return results
      }
    }.get()
  }

  /// Declines all further results.
  public func close() { monitor.update { $0.isClosed = true } }
}

/// Values that a thread makes before they are wanted, and that come in their order.
public final class ReadAhead<Value: Sendable> {
  /// Passes a value on. It throws if no more are wanted, which ends the thread.
  public typealias Send = (Value) throws -> Void

  private struct Stopped: Error {}

  private let values = Channel<Result<Value, any Error>>()
  /// How many more values may wait: the thread takes one before it sends a value.
  private let permits = Channel<Bool>()
  private var failure: (any Error)?

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - name: The name of the thread, for debuggers.
  ///   - most: The number of values that may exist at a time.
  ///   - make: Makes the values. Its error comes after them.
  public init(
    _ name: String, most: Int, _ make: @escaping @Sendable (_ send: Send) throws -> Void
  ) {
    for _ in 0..<most { permits.send(true) }
    BackgroundThread.start(name) { [values, permits] in
      defer { values.close() }
      do {
        try make { value in
          guard permits.receive() != nil else { throw Stopped() }
          values.send(.success(value))
        }
      } catch is Stopped {
      } catch { values.send(.failure(error)) }
    }
  }

  deinit {
    permits.cancel()
    // Until the thread has closed its files, which must happen before the snapshot that it reads ends.
    while values.receive() != nil {}
  }

  /// Waits for the next value; `nil` after the last one.
  ///
  /// - Throws: The error that ended the thread.
  public func next() throws -> Value? {
    if let failure { throw failure }
    guard let value = values.receive() else { return nil }
    return try taken(value).get()
  }

  /// Returns the next value if it is there.
  public func nextNow() -> Value? {
    guard let value = values.receiveNow() else { return nil }
    // Not thrown yet: the caller does something else meanwhile, whose error may go first.
    return try? taken(value).get()
  }

  private func taken(_ value: Result<Value, any Error>) -> Result<Value, any Error> {
    permits.send(true)
    if case .failure(let error) = value { failure = error }
    return value
  }
}
