import ResponseStorage

/// Consecutive entries, with their bodies as stored.
struct EntryBatch: Sendable {
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

/// What the thread that reads the cache sends to the threads that work on its entries.
enum EntryInput: Sendable {
  case batch(EntryBatch)
  /// The next bytes of the last body of the batch.
  case piece([UInt8])
  /// The end of the last body of the batch, or the error that ended it.
  case end((any Error)?)
}
