internal import CSQLite
internal import Files

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

extension Connection {
  /// The longest time between the deadline and the interruption, in milliseconds.
  private static let longestDelay: Int64 = 50

  /// Calls `body`, and interrupts the statements that it runs after a time, or when `shouldStop` returns `true`.
  ///
  /// The time is kept by another thread: SQLite asks `shouldStop` after a number of instructions, and an instruction that
  /// calls a function for a long text can take seconds.
  public borrowing func interrupting(
    after milliseconds: Int64, orWhen shouldStop: () -> Bool, _ body: () -> Void
  ) {
    let deadline = unsafe Deadline(handle)
    BackgroundThread.start("Connection") {
      var rest = milliseconds
      while rest > 0, deadline.isRunning {
        CurrentProcess.sleep(milliseconds: Int(min(rest, Self.longestDelay)))
        rest -= Self.longestDelay
      }
      // Again and again, as SQLite forgets an interruption when no statement runs.
      while deadline.isRunning {
        deadline.interrupt()
        CurrentProcess.sleep(milliseconds: Int(Self.longestDelay))
      }
    }
    interrupting(when: shouldStop, body)
    deadline.end()
  }

  /// Bounds what a single function can do, which cannot be interrupted: its texts, and the patterns of `LIKE` and `GLOB`.
  public borrowing func limitFunctions() {
    // The search for a text of half this length, all of which matches but the last byte, takes about 10 seconds.
    unsafe sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, 1 << 20)
    unsafe sqlite3_limit(handle, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000)
  }
}

/// A connection that another thread interrupts until the end of what it runs.
@safe
private final class Deadline: @unchecked Sendable {
  // The connection is only used while `running` is true, under the lock, and its owner waits for the lock to end it.
  private let handle: OpaquePointer
  private let running = Monitor(true)

  init(_ handle: OpaquePointer) { unsafe self.handle = handle }

  var isRunning: Bool { running.withLock { $0 } }

  func interrupt() { running.withLock { if $0 { unsafe sqlite3_interrupt(handle) } } }

  func end() { running.withLock { $0 = false } }
}

/// A closure as an object, to which a C pointer can refer.
private final class Question {
  let ask: () -> Bool

  init(_ ask: @escaping () -> Bool) { self.ask = ask }
}
