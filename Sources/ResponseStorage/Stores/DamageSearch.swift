import SQLite

/// A search for damage in a store as a whole, which goes on while its responses are read.
///
/// It must not outlive the store. Its end waits for its threads.
public final class DamageSearch {
  private let check: AppleDatabaseCheck

  init(_ check: AppleDatabaseCheck) {
    self.check = check
  }

  /// Whether the search has ended, apart from what it has to check again because it found damage.
  public var hasEnded: Bool { check.hasEnded }

  /// Calls `body` with each answer of SQLite, the first time; waits for them.
  func forEachAnswer(_ body: (String) throws -> Void) throws { try check.forEachAnswer(body) }

  /// Returns the names of the body files, which were read at the same time, the first time; `nil` after that.
  func takeNames() throws(SQLiteError) -> AppleBodyFileNames? { try check.takeNames() }

  // A thread must not read the database of a store that may be closed.
  deinit { check.waitForEnd() }
}
