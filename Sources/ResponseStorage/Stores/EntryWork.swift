/// What several threads do with entries and their bodies.
public protocol EntryWork: Sendable {
  /// A part of the results, which is passed on before the end of a batch if there are many.
  associatedtype Part: Sendable
  /// The rest of the results of a batch.
  associatedtype Summary: Sendable

  /// Works on an entry.
  ///
  /// - Parameter send: Passes on a part of the results, with about how many bytes it takes.
  /// - Throws: The error of a store that cannot be read, or any error of `send`.
  mutating func process(
    _ response: borrowing StoredResponse, _ body: ScannedBody,
    _ send: (Part, Int) throws -> Void
  ) throws

  /// Ends a batch of entries, and returns the rest of its results.
  mutating func endBatch(_ send: (Part, Int) throws -> Void) throws -> Summary
}

/// A result of work on entries.
public enum EntryWorkResult<Work: EntryWork>: Sendable {
  case part(Work.Part)
  /// The end of a batch.
  case summary(Work.Summary)
}
