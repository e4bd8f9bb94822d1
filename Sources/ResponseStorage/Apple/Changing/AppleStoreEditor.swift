import Bytes
import Files
import SQLite

/// An Apple store that is open for removing responses.
///
/// All changes are SQL on the live database, in transactions that span the three tables. Body files
/// go after the commit that takes their rows, so that no row ever names a file that is gone because
/// of us. The schema, `user_version`, the journal mode and `auto_vacuum` stay as they are.
public final class AppleStoreEditor: ResponseStore {
  let files: AppleStoreFiles
  let connection: Connection
  var bodies: AppleBodyFiles
  let intents: IntentFolder?
  /// What this command is about to do, once there is something.
  var intent: OpenIntent?
  /// Whether nothing can be noted.
  var hasNoIntent = false
  /// Whether another process had the database open when it was opened here.
  public let inUse: Bool
  /// Whether this only tries what becomes of a store that is in use: nobody waits, and the same is to come of it again.
  let isPrivateCopy: Bool

  /// Opens a store for changing.
  ///
  /// - Parameters:
  ///   - path: The database, or the folder of a `Cache.db`.
  ///   - wait: How long to wait for another process's lock, in milliseconds.
  ///   - verifying: Whether to have SQLite check the database first, which reads all of it.
  ///   - intents: Where changes are noted before they are made; `nil` if they need not be.
  ///   - isHeld: Whether this process itself keeps the store open, as another one does the store that it is a copy of.
  /// - Throws: ``StoreError``, also for what is read but not changed: other schemas than 25 to 203,
  ///   triggers, a folder of bodies that is no folder.
  public init(
    changing path: String, wait: Int32, verifying: Bool, intents: IntentFolder? = nil,
    isHeld: Bool = false
  ) throws(StoreError) {
    self.intents = intents
    let files = try AppleStoreFiles(at: path)
    _ = try files.state()
    try files.checkWriting()
    let inUse = if isHeld { true } else { try Self.isInUse(files) }
    let connection = try Self.connect(files, wait)
    try Self.guardLayout(of: connection, path)
    if verifying { try Self.verify(connection, path) }
    try AppleBodyFiles.guardFolder(at: files.bodies)
    bodies = AppleBodyFiles(at: files.bodies)
    self.files = files
    self.connection = connection
    self.inUse = inUse
    isPrivateCopy = isHeld
  }

  private static func connect(
    _ files: AppleStoreFiles, _ wait: Int32
  ) throws(StoreError) -> Connection {
    do throws(SQLiteError) {
      let connection = try Connection(
        path: files.database, access: .readWrite, busyTimeout: wait)
      // Body files go after the commit. With a rollback journal that is the removal of the journal, and
      // only EXTRA waits until its folder is on disk; with a log it is the same as FULL.
      try connection.execute("PRAGMA synchronous = EXTRA")
      try connection.execute("PRAGMA temp_store = MEMORY")
      // In kibibytes: the indexes over random keys are changed all over, and with SQLite's two megabytes
      // each of their pages would be written to the log again and again.
      try connection.execute("PRAGMA cache_size = -8192")
      try connection.execute("PRAGMA secure_delete = ON")
      return connection
    } catch {
      throw StoreError(error, path: files.path)
    }
  }

  private static func isInUse(_ files: AppleStoreFiles) throws(StoreError) -> Bool {
    do throws(FileError) {
      // It is closed again before SQLite opens the file, as closing it later would drop SQLite's locks.
      let file = try OpenFile(reading: files.database)
      return try DatabaseProbe.lockHeldElsewhere(on: file, indexPath: files.shm) != nil
    } catch {
      throw StoreError(error, path: files.database)
    }
  }

  /// Refuses what may be read but not changed.
  private static func guardLayout(
    of connection: borrowing Connection, _ path: String
  ) throws(StoreError) {
    let layout: AppleLayout
    do { layout = try AppleLayout(of: connection, path: path) } catch let error as StoreError {
      throw error
    } catch let error as SQLiteError {
      throw StoreError(error, path: path)
    } catch {
      throw StoreError(.damaged, at: path)
    }
    if let obstacle = layout.obstacle {
      throw StoreError(.unsupported, at: path, because: obstacle)
    }
  }

  private static func verify(
    _ connection: borrowing Connection, _ path: String
  ) throws(StoreError) {
    do throws(SQLiteError) {
      var rows = try connection.prepare("PRAGMA quick_check(1)")
      guard try rows.step() else { return }
      let answer = String(decoding: rows.bytes(at: 0), as: UTF8.self)
      if answer != "ok" { throw SQLiteError.damage(answer) }
    } catch {
      throw StoreError(error, path: path)
    }
  }
}

extension AppleStoreEditor {
  public func remove<Versions: RandomAccessCollection<ResponseVersion>>(
    _ responses: Versions, in order: RemovalOrder, into removal: inout Removal,
    unless shouldStop: () -> Bool
  ) throws(StoreError) where Versions.Index == Int {
    do throws(SQLiteError) {
      var batch = try AppleRemovalBatch(connection, order)
      var named: [UUIDBytes: Int]?
      // Beside an application, whose writing waits for ours, a batch is short; it finds its size by
      // its time. Alone it is as long as a user may wait after Control-C, as each begins with pages
      // that the one before has written.
      var batchSize = inUse ? 32 : 200_000
      let clock = ContinuousClock()
      while removal.visited < responses.count, !shouldStop() {
        let end = min(removal.visited + batchSize, responses.count)
        let start = clock.now
        let names = try batch.remove(
          responses[removal.visited..<end], connection, skipped: &removal.skipped,
          beforeCommit: noteRemoval)
        let took = clock.now - start
        removal.visited = end
        if !names.isEmpty {
          try unlink(names, &named, &removal)
          if removal.orphanedFiles > 0 { intent?.keep() }
          intent?.settleBatch()
        }
        guard inUse else { continue }
        if isPrivateCopy || took < .milliseconds(10) { batchSize = min(batchSize * 2, 4_096) }
        if isPrivateCopy { continue }
        if took > .milliseconds(30) { batchSize = max(batchSize / 2, 1) }
        // Whoever waits for the lock only asks again now and then.
        CurrentProcess.sleep(milliseconds: 10)
      }
      // The intent must not be gone for good before the files are.
      if intent != nil { bodies.synchronize() }
    } catch {
      throw StoreError(error, path: files.path)
    }
  }

  /// Removes the files that rows named which are gone, but for those that other rows still name.
  ///
  /// - Parameter named: How many rows name a file; counted when that is first asked for.
  func unlink(
    _ names: [ByteString], _ named: inout [UUIDBytes: Int]?, _ removal: inout Removal
  ) throws(SQLiteError) {
    let files = names.compactMap { name in UUIDBytes(name.bytes).map { (name: name, id: $0) } }
    var counts: [UUIDBytes: Int]
    if let known = named {
      counts = known
      named = nil
      for file in files { counts[file.id, default: 1] -= 1 }
    } else {
      counts = try countRowsByFile()
    }
    for file in files where counts[file.id, default: 0] <= 0 {
      do throws(FileError) {
        let length = try bodies.remove(file.name) ?? 0
        removal.returnedBytes += length
      } catch {
        removal.orphanedFiles += 1
      }
    }
    named = counts
  }

  private func countRowsByFile() throws(SQLiteError) -> [UUIDBytes: Int] {
    var counts: [UUIDBytes: Int] = [:]
    var rows = try connection.prepare(
      "SELECT receiver_data FROM \(AppleLayout.bodies) NOT INDEXED WHERE isDataOnFS > 0")
    while try rows.step() {
      if let file = UUIDBytes(rows.bytes(at: 0)) { counts[file, default: 0] += 1 }
    }
    return counts
  }
}
