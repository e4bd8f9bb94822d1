internal import CSQLite

extension Connection {
  /// The virtual machine instructions between two calls of `shouldStop`, which take some microseconds.
  private static let instructions: Int32 = 10_000

  /// Executes one SQL statement, ignores its rows, and interrupts it when `shouldStop` returns `true`.
  ///
  /// - Throws: ``SQLiteError`` of the kind `interrupted` if it was interrupted; it then has changed nothing.
  public borrowing func execute(
    _ sql: String, unless shouldStop: () -> Bool
  ) throws(SQLiteError) {
    var failure: SQLiteError?
    interrupting(when: shouldStop) {
      do throws(SQLiteError) { try execute(sql) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// Calls `body`, and interrupts the statements that it runs when `shouldStop` returns `true`.
  ///
  /// An interrupted statement throws ``SQLiteError`` of the kind `interrupted`.
  public borrowing func interrupting(when shouldStop: () -> Bool, _ body: () -> Void) {
    withoutActuallyEscaping(shouldStop) { shouldStop in
      let question = Question(shouldStop)
      unsafe sqlite3_progress_handler(
        handle, Self.instructions,
        { question in
          guard let question = unsafe question else { return 0 }
          return unsafe Unmanaged<Question>.fromOpaque(question).takeUnretainedValue().ask() ? 1 : 0
        }, Unmanaged.passUnretained(question).toOpaque())
      defer { unsafe sqlite3_progress_handler(handle, 0, nil, nil) }
      withExtendedLifetime(question) { body() }
    }
  }
}

/// A closure as an object, to which a C pointer can refer.
private final class Question {
  let ask: () -> Bool

  init(_ ask: @escaping () -> Bool) { self.ask = ask }
}
