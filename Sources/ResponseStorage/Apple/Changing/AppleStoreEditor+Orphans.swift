import Bytes
import Files
import SQLite

extension AppleStoreEditor {
  /// How often the names are read because another process has written meanwhile.
  private static let mostReadings = 4
  /// The longest time that reading the names under the lock may keep an app from writing.
  private static let longestReading = Duration.milliseconds(50)

  public func remove(
    orphans: [OrphanFile], into removal: inout Removal, unless shouldStop: () -> Bool
  ) throws(StoreError) {
    _ = try decide(orphans, into: &removal, unless: shouldStop)
  }

  /// Removes body files to which no response refers.
  ///
  /// - Returns: `false` if some were skipped only because the names in the databases kept changing, or cannot be read.
  func decide(
    _ orphans: [OrphanFile], into removal: inout Removal, unless shouldStop: () -> Bool
  ) throws(StoreError) -> Bool {
    do throws(SQLiteError) {
      // Read outside of the lock, as reading all names of a large cache takes longer than an app
      // should wait. The data version then shows whether they are still true once the lock is held.
      var names = try readNames()
      var readings = 1
      while removal.visitedOrphans < orphans.count, !shouldStop() {
        let rest = orphans[removal.visitedOrphans...]
        let start = ContinuousClock.now
        // While an app is running, release the lock after each small group so that it can write.
        // Removing a file took 40 to 80 µs, so 64 of them keep the lock for some 5 ms.
        if var known = names,
          try remove(rest.prefix(mayBeInUse ? 64 : .max), checking: &known, &removal)
        {
          names = known
          pauseForOthers(after: .now - start)
        } else if names != nil, readings < Self.mostReadings {
          names = try readNames()
          readings += 1
        } else {
          // A database that cannot be read may refer to any of them. An app that writes all the time would otherwise keep
          // this command running for ever. A file that is kept does no harm, and the next repair tries again.
          removal.skippedOrphans += rest.map(\.name)
          removal.visitedOrphans = orphans.count
          return false
        }
      }
      return true
    } catch {
      throw StoreError(error, path: files.path)
    }
  }

  /// Reads the names in this database, and in the others in the folder; `nil` if one of those cannot be read.
  private func readNames() throws(SQLiteError) -> BodyFileNames? {
    neighbours.read(waiting: wait)
    return neighbours.unreadable.isEmpty ? try BodyFileNames(of: self) : nil
  }

  /// Removes some files under the write lock, so that no response can begin to refer to one of them.
  ///
  /// - Parameter names: The names in this database. Outdated names are read again if that is quick.
  /// - Returns: `false` if the names are outdated and reading them under the lock takes too long.
  private func remove(
    _ orphans: ArraySlice<OrphanFile>, checking names: inout BodyFileNames,
    _ removal: inout Removal
  ) throws(SQLiteError) -> Bool {
    // Overwriting takes long, so under the lock a file only gets another name, to which no response can refer.
    let newNames = overwrites ? noteNewNames(orphans.count) : []
    // Also after an error, which can come when some have their new names.
    defer { if overwrites { overwriteAndRemove(newNames, &removal) } }
    return try remove(orphans, checking: &names, renamingTo: newNames, &removal)
  }

  private func noteNewNames(_ count: Int) -> [ByteString] {
    let names = (0..<count).map { _ in
      ByteString(AppleStoreWriter.uuid(.random(in: 0 ... .max), .random(in: 0 ... .max)))
    }
    for name in names { noteStaging(of: name) }
    intent?.synchronize()
    return names
  }

  private func overwriteAndRemove(_ names: [ByteString], _ removal: inout Removal) {
    let failed = removal.orphanedFiles
    for name in bodies.overwrite(names, into: &removal) {
      do throws(FileError) { _ = try bodies.remove(name) } catch { removal.orphanedFiles += 1 }
    }
    if removal.orphanedFiles > failed { intent?.keep() }
    bodies.synchronize()
    intent?.settleBatch()
  }

  private func remove(
    _ orphans: ArraySlice<OrphanFile>, checking names: inout BodyFileNames,
    renamingTo newNames: [ByteString], _ removal: inout Removal
  ) throws(SQLiteError) -> Bool {
    try connection.execute("BEGIN IMMEDIATE")
    // There is nothing to commit: the transaction is only for the lock.
    defer { try? connection.execute("ROLLBACK") }
    if try names.areOutdated(in: self) {
      guard names.duration < Self.longestReading else { return false }
      names = try BodyFileNames(of: self)
    }
    // Another database has no lock here, but nor does an app begin to refer to an old file.
    if neighbours.haveChanged() {
      guard neighbours.duration < Self.longestReading else { return false }
      neighbours.read(waiting: 0)
    }
    guard neighbours.unreadable.isEmpty else { return false }
    for (index, orphan) in orphans.enumerated() {
      remove(orphan, unlessIn: names.names, newNames.isEmpty ? nil : newNames[index], &removal)
      WorkCounter.add()
    }
    removal.visitedOrphans += orphans.count
    return true
  }

  private func remove(
    _ orphan: OrphanFile, unlessIn names: Set<UUIDBytes>, _ newName: ByteString?,
    _ removal: inout Removal
  ) {
    var gone: FileStatus?
    // The name comes from a plan, which is a file that anyone may have edited, so it must be a UUID
    // here, too.
    if let uuid = UUIDBytes(Array(orphan.name.utf8)), !names.contains(uuid),
      !neighbours.mayName(uuid)
    {
      do throws(FileError) { gone = try bodies.remove(orphan, renamingTo: newName) } catch {
        removal.orphanedFiles += 1
      }
    }
    if gone == nil { removal.skippedOrphans.append(orphan.name) }
    removal.countFile(gone)
  }
}

extension AppleStoreEditor {
  /// The rows that are read in one statement: with a rollback journal, an app cannot commit meanwhile.
  private static let rowsOfSlice = 10_000

  /// Calls `body` with the name of the body file of each row, whatever changes meanwhile.
  func forEachBodyFileName(_ body: (UUIDBytes) -> Void) throws(SQLiteError) {
    var rows = try connection.prepare(
      """
      SELECT entry_ID, CASE WHEN isDataOnFS > 0 THEN receiver_data END FROM \(AppleLayout.bodies) NOT INDEXED
      WHERE entry_ID > ?1 ORDER BY entry_ID LIMIT \(Self.rowsOfSlice)
      """)
    var last = Int64.min
    while true {
      var count = 0
      try rows.bind(integer: last, at: 1)
      while try rows.step() {
        let row = rows.integer(at: 0)
        guard row > last || count == 0 else { throw .damage("rows are out of order") }
        (last, count) = (row, count + 1)
        if rows.type(at: 1) != .null, let name = UUIDBytes(rows.bytes(at: 1)) { body(name) }
      }
      rows.reset()
      guard count == Self.rowsOfSlice else { return }
    }
  }
}

/// The names of the body files that the responses of a database refer to.
private struct BodyFileNames {
  let names: Set<UUIDBytes>
  /// How long it took to read them.
  let duration: Duration
  /// The `data_version` of SQLite, which changes when another connection has written.
  private let dataVersion: Int64

  init(of store: AppleStoreEditor) throws(SQLiteError) {
    let clock = ContinuousClock()
    let start = clock.now
    // It comes first: a change while the names are read then shows.
    dataVersion = try store.dataVersion()
    var names: Set<UUIDBytes> = []
    try store.forEachBodyFileName { names.insert($0) }
    self.names = names
    duration = clock.now - start
  }

  func areOutdated(in store: AppleStoreEditor) throws(SQLiteError) -> Bool {
    try store.dataVersion() != dataVersion
  }
}
