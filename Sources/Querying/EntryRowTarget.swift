public import ResponseStorage

/// Tables to which the rows of entries are added.
public protocol EntryRowTarget: ~Copyable {
  /// The parts of a response to decode.
  var projection: Projection { get }

  /// No rows, to be filled with those of entries on any thread.
  var emptyRows: EntryRows { get }

  /// Adds the rows of an entry.
  ///
  /// - Throws: ``QueryError``
  mutating func insert(_ response: borrowing StoredResponse) throws(QueryError)

  /// Adds rows, and removes them from `rows`.
  ///
  /// - Throws: ``QueryError``
  mutating func insert(_ rows: inout EntryRows) throws(QueryError)
}
