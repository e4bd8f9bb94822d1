import Files

/// The results of batches of entries, on which several threads work and which one thread takes in order.
///
/// Results wait in a limited number of bytes. The oldest batch never waits for others, so all come to their end.
final class OrderedResults<Work: EntryWork>: Sendable {
  private enum Message: Sendable {
    case part(Work.Part, bytes: Int)
    case done(Work.Summary)
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
  struct Closed: Error {}

  /// The number of bytes that wait.
  private static var mostBytes: Int { 256 << 10 }

  private let monitor = Monitor(State())

  /// Sends a part of the results of a batch.
  ///
  /// - Throws: ``Closed`` if nothing more is wanted.
  func send(_ part: Work.Part, bytes: Int, of batch: Int) throws(Closed) {
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
  func end(_ batch: Int, with result: Result<Work.Summary, any Error>) {
    let message: Message =
      switch result {
      case .success(let summary): .done(summary)
      case .failure(let error): .failure(error)
      }
    monitor.update { $0.messages[batch, default: []].append(message) }
  }

  /// Sets the number of batches.
  func setCount(_ count: Int) { monitor.update { $0.count = count } }

  /// Passes on the results of all batches, in their order.
  ///
  /// - Throws: The error of a batch, after all results before it; or any error of `body`.
  func forEach(_ body: (EntryWorkResult<Work>) throws -> Void) throws {
    var batch = 0
    while let messages = messages(of: batch) {
      for message in messages {
        switch message {
        case .part(let part, _): try body(.part(part))
        case .done(let summary):
          batch += 1
          try body(.summary(summary))
        case .failure(let error): throw error
        }
      }
    }
  }

  /// Waits for messages of the oldest batch; `nil` after the last one.
  private func messages(of batch: Int) -> [Message]? {
    // Before the wait: the thread that works on this batch may be waiting to send its first part.
    monitor.update { $0.oldest = batch }
    return monitor.update(when: { $0.messages[batch] != nil || $0.count == batch }) { state in
      let messages = state.messages.removeValue(forKey: batch)
      for case .part(_, let bytes) in messages ?? [] { state.bytes -= bytes }
      return messages
    }
  }

  /// Declines all further results.
  func close() { monitor.update { $0.isClosed = true } }
}
