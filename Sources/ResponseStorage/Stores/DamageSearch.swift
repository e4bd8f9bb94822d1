public import Bytes

/// A search for damage in a store as a whole, which goes on while its responses are read.
///
/// It must not outlive the store. Its end waits for its threads.
public final class DamageSearch {
  let check: AppleDatabaseCheck
  private var names = AppleBodyFileNames()
  private var hasAllNames = false

  init(_ check: AppleDatabaseCheck) {
    self.check = check
  }

  /// Calls `body` with each answer of SQLite, the first time; waits for them.
  func forEachAnswer(_ body: (String) throws -> Void) throws { try check.forEachAnswer(body) }

  /// Notes body files that responses name.
  public func insert(bodyFiles: [ByteString]) {
    for name in bodyFiles { names.insert(name.bytes) }
  }

  /// Notes that the body files of all responses were inserted, so that no search for their names is needed.
  public func finishBodyFiles() { hasAllNames = true }

  /// Returns the names of all body files; `nil` if some may be missing.
  func allNames() -> AppleBodyFileNames? { hasAllNames ? names : nil }

  // A thread must not read the database of a store that may be closed.
  deinit { check.waitForEnd() }
}
