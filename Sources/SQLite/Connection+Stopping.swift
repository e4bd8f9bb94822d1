internal import CSQLite

extension Connection {
  /// How many instructions of SQLite's go between two questions: some microseconds.
  private static let instructions: Int32 = 10_000

  /// Carries out one SQL statement, whose rows are ignored, and asks now and then whether to give it up.
  ///
  /// - Throws: ``SQLiteError`` of the kind `interrupted` if it was given up, and then has changed nothing.
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

/// A closure as something that C can point to.
private final class Question {
  let ask: () -> Bool

  init(_ ask: @escaping () -> Bool) { self.ask = ask }
}
