public import Bytes
import Files
import SQLite

extension AppleStoreEditor {
  /// The largest body that is stored in a row. A row must fit into memory as a whole, so larger bodies
  /// are stored in body files even if they were in a row before.
  private static let largestRowBody = ByteCount(16 << 20)

  /// The size of the page cache during an insertion, in KiB.
  // With 16 MiB, an import of 30,000 responses writes a third less than with 8 MiB.
  private static let pageMemory = 16 << 10

  public func stage(_ response: RawResponse) throws -> ByteString? {
    guard Self.belongsIntoFile(response) else { return nil }
    if !bodies.isOpen {
      try makeBodyFolder()
      bodies = AppleBodyFiles(at: files.bodies)
    }
    let name = AppleStoreWriter.uuid(.random(in: 0 ... .max), .random(in: 0 ... .max))
    // Noted before the file is created: a process that is killed right afterwards would otherwise
    // leave a file that neither a row nor an intent mentions.
    noteStaging(of: ByteString(name))
    do {
      // The name is new and random, and never the one in the archive. A hostile archive so cannot
      // choose where a file is written, and an existing file is never overwritten.
      try write(response.part(.body)?.content, toFileNamed: name)
    } catch {
      removeStaged([ByteString(name)])
      throw error
    }
    return ByteString(name)
  }

  /// Writes a body file. An error while writing is an error of this store; an error while reading the
  /// body is passed on.
  private func write(_ body: Body?, toFileNamed name: [UInt8]) throws {
    let file = try createFile(named: name)
    try body?.forEachChunk { chunk in
      do throws(FileError) { try file.write(chunk) } catch { throw StoreError(writing: error) }
    }
  }

  private func createFile(named name: [UInt8]) throws(StoreError) -> OpenFile {
    do throws(FileError) { return try OpenFile(creating: path(ofBody: name)) } catch {
      throw StoreError(writing: error)
    }
  }

  private static func belongsIntoFile(_ response: RawResponse) -> Bool {
    guard let size = response.part(.body)?.content?.size else { return false }
    if response.hasBodyFile || size > largestRowBody { return true }
    // Older schemas have no `isDataOnFS` and keep every body in its row.
    // The body of such a response goes where the target would put it, by the threshold of newer
    // schemas.
    return response.value(of: "isDataOnFS") == nil
      && size >= ByteCount(AppleStoreWriter.fileThreshold)
  }

  public func removeStaged(_ names: [ByteString]) {
    guard let folder = try? Directory(files.bodies) else { return }
    for name in names {
      // The names come from this process, but a name that leads out of the folder must never reach
      // `unlinkat`, whatever bug produced it.
      if let name = AppleBodyFiles.validated(name.bytes) { try? folder.remove(name) }
    }
    intent?.settle()
  }

  public func insert(_ body: (any RawResponseInsertion) throws -> [ByteString]) throws {
    do {
      // Keys arrive in random order: with a small page cache, pages are written, read and written again.
      try connection.execute("PRAGMA cache_size = -\(Self.pageMemory)")
      // The keys that SQLite sorts for an index may not fit into memory.
      try connection.execute("PRAGMA temp_store = FILE")
      defer { try? connection.execute("PRAGMA temp_store = MEMORY") }
      // What does not fit into the page cache has to be written before the commit.
      try connection.execute("PRAGMA cache_spill = ON")
      defer { if !hasLog { try? connection.execute("PRAGMA cache_spill = OFF") } }
      // SQLite writes to most damaged databases without an error. An app waits for the transaction, so this is looked for before
      // it; otherwise within it, which also finds what the insertion itself did wrong.
      let isVerifiedFirst = mayBeInUse
      if isVerifiedFirst {
        try Self.verify(files, connection, hasLog: hasLog, wait)
      }
      var replacedFiles: [ByteString]?
      do {
        try transact({ $0 }) { () throws(any Error) in
          replacedFiles = nil
          // CFNetwork may have prepared statements, and would have to prepare them again.
          let indexes = inUse ? nil : try DeferredIndexes(droppingFrom: connection)
          let insertion = try AppleInsertion(connection, path: files.path)
          let sync = try sync(of: body(insertion))
          try indexes?.create(in: connection, folder: files.folder)
          if !isVerifiedFirst { try verify() }
          // Before the commit: a row must not refer to a body that is not on disk.
          try sync.wait()
          noteRemoval(of: insertion.replacedFiles)
          replacedFiles = insertion.replacedFiles
        }
      } catch {
        // Only opening the database again shows whether a commit that has failed took effect, so keep the intent.
        if replacedFiles != nil, (error as? SQLiteError)?.kind != .busy { intent?.keep() }
        throw error
      }
      // Only after the commit: before it, the rows on disk still refer to these files.
      removeReplaced(replacedFiles ?? [])
    } catch let error as SQLiteError {
      throw StoreError(error, path: files.path)
    }
  }

  /// Removes the body files of responses that were replaced.
  ///
  /// Never fails: the insertion is committed, and an error would make the caller remove the new body
  /// files. A file that cannot be removed is left for `check` to find.
  private func removeReplaced(_ names: [ByteString]) {
    var named: [UUIDBytes: Int]?
    var removal = Removal()
    do throws(SQLiteError) { try unlink(names, &named, &removal) } catch { intent?.keep() }
    if removal.orphanedFiles > 0 { intent?.keep() }
    // The removals of the files must be on disk before that of the intent. Otherwise a power
    // failure could bring the files back without the record that they are orphans.
    if intent != nil, !names.isEmpty { bodies.synchronize() }
    intent?.settle()
  }

  private func verify() throws(SQLiteError) {
    var rows = try connection.prepare("PRAGMA quick_check(1)")
    guard try rows.step() else { return }
    let answer = String(decoding: rows.bytes(at: 0), as: UTF8.self)
    if answer != "ok" { throw SQLiteError.damage(answer) }
  }

  private func path(ofBody name: [UInt8]) -> String {
    "\(files.bodies)/\(String(decoding: name, as: UTF8.self))"
  }

  private func makeBodyFolder() throws(StoreError) {
    do throws(FileError) { try Directory.create(files.bodies) } catch {
      guard error.kind == .exists else { throw StoreError(writing: error) }
    }
  }
}

extension StoreError {
  /// Creates an error from a failure to write a file.
  init(writing error: FileError) {
    switch error.kind {
    // These two have exit statuses and hints of their own. Any other failure to write is an I/O
    // error, and not the "no such cache" that the same errno means where a store is opened.
    case .accessDenied, .noRoom: self.init(error, path: error.path)
    default: self.init(.inputOutput, at: error.path, because: error.reason)
    }
  }
}
