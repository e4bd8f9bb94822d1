import Bytes
import Files
import SQLite

extension FoundStore {
  /// How long to wait for the lock of another process, in milliseconds.
  // A search meets many databases, and one that is locked for longer is reported as unreadable.
  private static let wait: Int32 = 100

  /// Creates a found store from the files of a Foundation store.
  init(_ folder: FoundationFolder, at path: String) {
    self.init(
      path: path, format: .foundation, entries: folder.entries, footprintBytes: folder.bytes,
      newestStored: folder.newestStored)
  }

  /// Reads the properties of the store in a database; `nil` if the database is not a store.
  ///
  /// - Parameters:
  ///   - path: The path of the database.
  ///   - measures: Whether to count the entries and bytes.
  /// A store with unreadable entries counts, with a note.
  ///
  /// - Throws: ``StoreError`` if it cannot be determined whether the database is a store.
  init?(databaseAt path: String, measuring measures: Bool) throws(StoreError) {
    guard Self.mayBeStore(path) else { return nil }
    do throws(StoreError) {
      self = try Self.examined(path, measuring: measures)
    } catch {
      switch error.code {
      case .notFound where error.path != path:
        throw StoreError(
          .inputOutput, at: path,
          because:
            "reading it needs a private copy, and the folder '\(error.path ?? path)' does not exist"
        )
      // Any file on the disk can begin like an SQLite database. What is wrong with one that is not
      // a cache is nothing that a search for caches should report.
      case .notFound, .notACache, .damaged, .noSuchResponse, .unsupported, .inapplicable: return nil
      case .changedWhileReading:
        // Another process has just opened it, so now it can be read with a lock.
        self = try Self.examined(path, measuring: measures)
      case .unfinished, .inUse, .inUseWithoutLock, .accessDenied, .inputOutput, .noRoom,
        .unreadable:
        throw error
      }
    }
  }

  private static func examined(
    _ path: String, measuring measures: Bool
  ) throws(StoreError) -> FoundStore {
    do {
      let source = try AppleStore(readingFrom: path, wait: wait)
      let description = source.description
      var store = FoundStore(
        path: path, format: description.format, schemaVersion: description.schemaVersion,
        use: description.inUse ? .process(description.holder) : .none, notes: description.notes)
      do {
        if measures { try store.measure(source) }
      } catch let error as StoreError where error.code == .damaged {
        store.notes.append("damaged: \(error.reason ?? "its rows cannot be read")")
      }
      try source.finish()
      return store
    } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError(.inputOutput, at: path, because: "\(error)")
    }
  }

  /// Reads the properties of a WebKit cache.
  init(webKitAt path: String, measuring measures: Bool) throws(StoreError) {
    do {
      // The time only decides about notes on entries, which nobody reads here.
      let source = try WebKitStore(readingFrom: path, now: .earliest)
      let description = source.description
      self.init(
        path: path, format: description.format, schemaVersion: description.schemaVersion,
        notes: description.notes + WebKitNeighbours.notes(at: path))
      if measures { try measure(source) }
    } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError(.inputOutput, at: path, because: "\(error)")
    }
  }

  /// Counts the entries and bytes of a store.
  private mutating func measure(_ source: some ResponseSource) throws {
    footprintBytes = try source.footprint().totalBytes
    var (count, newest) = (Int64(0), Timestamp?.none)
    try source.scan(.stored) { response in
      count += 1
      if let time = response.stored { newest = max(newest ?? time, time) }
      return .next
    }
    (entries, newestStored) = (count, newest)
  }

  /// Whether a database may be a store.
  ///
  /// A database with a journal may need a private copy, so its tables are first read as they are.
  private static func mayBeStore(_ path: String) -> Bool {
    guard let journal = try? FileStatus.of(path + "-journal"), journal.size > 0 else { return true }
    do throws(SQLiteError) {
      // The tables may be those before or after the interrupted transaction. Either shows whether
      // the file can be a cache at all, and only then is it copied.
      let connection = try Connection(path: path, access: .immutable)
      var rows = try connection.prepare(
        "SELECT 1 FROM sqlite_master WHERE lower(name) = '\(AppleLayout.responses)'")
      return try rows.step()
    } catch {
      return true
    }
  }
}

extension FoundStore {
  /// What follows from the format.
  public var traits: StoreTraits { format.traits }

  /// The app whose default cache this is, derived from the path alone: a bundle identifier, or the name of a program.
  /// `nil` for a cache to which the app gave its own path.
  // The path is all there is: no kind of store records the app that writes it.
  public var defaultOf: String? { format.kind?.application(ofStoreAt: path) }
}
