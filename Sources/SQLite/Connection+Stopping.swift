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
    let failure: SQLiteError? = withoutActuallyEscaping(shouldStop) { shouldStop in
      let question = Question(shouldStop)
      unsafe sqlite3_progress_handler(
        handle, Self.instructions,
        { question in
          guard let question = unsafe question else { return 0 }
          return unsafe Unmanaged<Question>.fromOpaque(question).takeUnretainedValue().ask() ? 1 : 0
        }, Unmanaged.passUnretained(question).toOpaque())
      defer { unsafe sqlite3_progress_handler(handle, 0, nil, nil) }
      return withExtendedLifetime(question) {
        do throws(SQLiteError) { try execute(sql) } catch { return error }
        return nil
      }
    }
    if let failure { throw failure }
  }
}

/// A closure as an object, to which a C pointer can refer.
private final class Question {
  let ask: () -> Bool

  init(_ ask: @escaping () -> Bool) { self.ask = ask }
}
