/// A search for damage in a store as a whole, which goes on while its responses are read.
///
/// It must not outlive the store. Its end waits for its threads.
public final class DamageSearch {
  private var check: AppleDatabaseCheck?

  init(_ check: AppleDatabaseCheck) {
    self.check = check
  }

  /// Calls `body` with each answer of SQLite, the first time; waits for them.
  func forEachAnswer(_ body: (String) throws -> Void) throws {
    guard let check = check.take() else { return }
    try check.forEachAnswer(body)
  }

  deinit {
    // A thread must not read the database of a store that may be closed.
    try? check?.forEachAnswer { _ in }
  }
}
