import Bytes
import Files
import SQLite

extension AppleStoreEditor {
  /// The longest pause of SQLite's own busy handler in the first 100 ms, and a little more, in milliseconds.
  ///
  /// An app that waits for the lock tries again after pauses, so it is sure to meet a gap of this length.
  private static let gap = 26

  /// Whether an app may wait for each transaction: one has the database open or, with a rollback journal, could have it open.
  ///
  /// With a rollback journal, an app holds locks only within its transactions. Between them, nothing shows that it is there.
  public var mayBeInUse: Bool { inUse || !hasLog }

  /// Runs changes as one transaction, for which no app has to wait longer than it takes.
  ///
  /// With a rollback journal, a commit needs a moment without readers. While SQLite waits for one, it lets nobody read or write. So it
  /// does not wait here: the transaction is rolled back, and tried again after a pause, for as long as this command may wait for a
  /// lock. While it waits to begin, it holds no lock.
  ///
  /// - Parameter changes: Called again for each try, after everything that it did to the database was undone. It must have reset its
  ///   statements when it throws.
  func transact<Result>(
    _ changes: () throws(SQLiteError) -> Result
  ) throws(SQLiteError) -> Result { try transact({ $0 }, changes) }

  /// Runs changes that can fail otherwise as one transaction, as above.
  ///
  /// - Parameter failure: Returns an error of SQLite as one of `changes`.
  func transact<Result, Failure: Error>(
    _ failure: (SQLiteError) -> Failure, _ changes: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try retrying { (rest) throws(Failure) in
      func execute(_ sql: String) throws(Failure) {
        do throws(SQLiteError) { try connection.execute(sql) } catch { throw failure(error) }
      }
      connection.wait(milliseconds: rest)
      // IMMEDIATE takes the write lock now. A transaction that begins by reading and then wants to write fails if an app has
      // written in between, and no waiting helps.
      try execute("BEGIN IMMEDIATE")
      connection.wait(milliseconds: 0)
      do throws(Failure) {
        let result = try changes()
        awaitReaders()
        try execute("COMMIT")
        return result
      } catch {
        // SQLite has already rolled back after some errors; this ROLLBACK then fails harmlessly.
        try? connection.execute("ROLLBACK")
        throw error
      }
    }
  }

  /// How long to wait for a moment without readers, in milliseconds: an app that writes waits meanwhile.
  private static let readersTime: Int64 = 20

  /// With a rollback journal, waits a moment for the readers, in which others can begin to read: a commit then hardly ever meets one.
  private func awaitReaders() {
    guard !hasLog else { return }
    let clock = ContinuousClock()
    let start = clock.now
    let end = LocalTime.steadyMilliseconds() + Self.readersTime
    var lock: RecordLock?
    repeat {
      lock = try? lockFile.lockHeldElsewhere(on: DatabaseProbe.sharedLock)
    } while lock != nil && LocalTime.steadyMilliseconds() < end
    readerWait = clock.now - start
  }

  /// Tries something again while the database is busy, for as long as this command may wait for a lock.
  ///
  /// - Parameter attempt: Called with the rest of that time, in milliseconds. When it throws, it must hold no lock.
  func retrying<Result, Failure: Error>(
    _ attempt: (_ rest: Int32) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let end = LocalTime.steadyMilliseconds() + Int64(wait)
    defer { connection.wait(milliseconds: wait) }
    while true {
      let rest = end - LocalTime.steadyMilliseconds()
      do throws(Failure) { return try attempt(Int32(clamping: max(0, rest))) } catch {
        guard (error as? SQLiteError)?.kind == .busy, rest > 0, !HeldSignals.areWaiting else {
          throw error
        }
        // An app has it open, whether or not that showed when it was opened here.
        inUse = true
        // Not always the same: an app may read at regular times.
        CurrentProcess.sleep(milliseconds: Self.gap + Int.random(in: 0..<8))
      }
    }
  }

  /// How long to look for other processes, in milliseconds: an app that is busy reads or writes more often.
  private static let lookingTime: Int64 = 200

  /// Looks whether another process uses a database with a rollback journal, which shows only while it does.
  func lookForOthers() throws(StoreError) {
    guard !hasLog, !inUse else { return }
    do {
      let version = try dataVersion()
      let end = LocalTime.steadyMilliseconds() + Self.lookingTime
      while !inUse, LocalTime.steadyMilliseconds() < end {
        // Half of the time: a reader can be done in a tenth of a millisecond.
        for _ in 0..<1_000
        where try lockFile.lockHeldElsewhere(on: DatabaseProbe.databaseLocks) != nil {
          inUse = true
          break
        }
        CurrentProcess.sleep(milliseconds: 1)
      }
      if try dataVersion() != version { inUse = true }
    } catch let error as FileError {
      throw StoreError(error, path: files.database)
    } catch let error as SQLiteError {
      throw StoreError(error, path: files.path)
    } catch {
      throw StoreError(.inputOutput, at: files.path)
    }
  }

  /// Returns the `data_version` of SQLite, which changes when another connection has written.
  func dataVersion() throws(SQLiteError) -> Int64 {
    var rows = try connection.prepare("PRAGMA data_version")
    return try rows.step() ? rows.integer(at: 0) : 0
  }

  /// The smallest number of rows or pages in a transaction beside an app. With a rollback journal, nearly all of the time of a small
  /// transaction is that of waiting for the disk, whatever it changes.
  var smallestBatch: Int { hasLog ? 1 : 16 }

  /// Pauses between two transactions, so that an app that waits for the lock gets it.
  ///
  /// - Parameter took: How long the last transaction has held the lock.
  func pauseForOthers(after took: Duration = .zero) {
    guard mayBeInUse else { return }
    if took >= .milliseconds(100) {
      // SQLite's busy handler tries again each 50 ms after the first 100 ms, and each 100 ms after the first 200.
      CurrentProcess.sleep(milliseconds: took < .milliseconds(200) ? 51 : 101)
    } else {
      CurrentProcess.sleep(milliseconds: hasLog ? 10 : Self.gap)
    }
  }
}

extension AppleStoreEditor: IntentStore {
  /// Records which body files are about to be removed, before their rows are.
  func noteRemoval(of names: [ByteString]) {
    guard intents != nil, !names.isEmpty else { return }
    if overwrites {
      // A file that is partly overwritten is another version of it, so no version is recorded. The rows still decide
      // whether the next command removes the file.
      for name in names where bodies.version(of: name) != nil { openIntent()?.note(added: name) }
      intent?.synchronize()
      return
    }
    let files = names.compactMap { name in
      bodies.version(of: name).map { Intent.RemovedFile(name: name, version: $0) }
    }
    // A row may refer to a file that does not exist, of which there is nothing to remove later.
    if !files.isEmpty { openIntent()?.note(files) }
  }

  /// Records that a body file is about to be written to which no row refers yet.
  func noteStaging(of name: ByteString) {
    if intents != nil { openIntent()?.note(added: name) }
  }

  private func openIntent() -> OpenIntent? {
    if intent == nil, !hasNoIntent {
      intent = Intent.Place(.apple, files.bodies).flatMap { intents?.begin($0) }
      // Not tried again for each batch: every attempt would wait for the file system and print the
      // same note.
      hasNoIntent = intent == nil
    }
    return intent
  }

  func finish(_ intent: Intent, into finished: inout FinishedIntents) throws(StoreError) -> Bool {
    var orphans: [String: OrphanFile] = [:]
    func add(_ name: ByteString, unless isOther: (FileVersion) -> Bool) {
      guard let version = bodies.version(of: name), !isOther(version), let name = name.string
      else { return }
      orphans[name] = OrphanFile(name: name, size: version.size, modified: version.modified)
    }
    // A file with the same name but another version was written since, and is not ours to remove.
    // The file of an added name was just being written when its process died, so its version cannot
    // be known.
    for file in intent.removed { add(file.name) { $0 != file.version } }
    for name in intent.added { add(name) { _ in false } }
    guard !orphans.isEmpty else { return true }
    finished.areBodyFiles = true
    var removal = Removal()
    // The interrupted command may have been one that overwrites.
    overwrites = true
    // The rows are asked, and not the intent. If the transaction of the killed command was rolled
    // back, rows still refer to these files, and they must be kept.
    let isDecided = try decide(
      orphans.values.sorted { $0.name < $1.name }, into: &removal, unless: { false })
    finished.removedFiles += removal.visitedOrphans - removal.skippedOrphans.count
    finished.remainingFiles += removal.orphanedFiles
    if removal.returnedBytes > 0 { bodies.synchronize() }
    return isDecided && removal.orphanedFiles == 0
  }
}
