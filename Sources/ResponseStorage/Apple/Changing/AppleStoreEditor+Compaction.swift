import Bytes
import Files
import SQLite

extension AppleStoreEditor {
  /// Up to so many free pages slices are cheaper than a rewrite: their cost grows faster than their
  /// number, as each moves a page from the end and looks for its place in the list of free ones.
  private static let mostPagesInSlices: Int64 = 100_000

  // What a slice moves: beside an application so much that it does not wait for long, at first; alone so much that
  // one that comes meanwhile gets its turn before it gives up, as each slice costs writes that are waited for.
  private static let fewestPagesOfSlice: Int64 = 64
  private static let mostPagesOfSlice: Int64 = 16_384

  public func compact(
    fully: Bool, unless shouldStop: () -> Bool
  ) throws(StoreError) -> CompactionMethod {
    if fully, inUse {
      throw StoreError(
        .inUse, at: files.path, because: "it can only be rewritten while nobody has it open")
    }
    // In kibibytes: pages are moved once, in their order, and the fewer are kept, the nearer they are to the processor.
    try run("PRAGMA cache_size = -512")
    let free = try number("PRAGMA freelist_count")
    let canSlice = try number("PRAGMA auto_vacuum") == 2
    // Slices shorten the file too, but only if they have a page to give back.
    let needsRewrite = free > 0 ? free > Self.mostPagesInSlices || !canSlice : try hasTail()
    if fully || !inUse && needsRewrite {
      if try hasRoomForRewrite() || fully {
        do throws(SQLiteError) {
          return try rewrite(unless: shouldStop) ? .rewrite : .none
        } catch {
          // The copy is put elsewhere, where there may be no room for it; slices need less.
          guard canSlice, !fully, error.kind == .noRoom || error.kind == .cannotOpen else {
            throw StoreError(error, path: files.path)
          }
        }
      }
    }
    guard free > 0, canSlice else { return .none }
    var pages = inUse ? Self.fewestPagesOfSlice : Self.mostPagesOfSlice
    let clock = ContinuousClock()
    while try number("PRAGMA freelist_count") > 0, !shouldStop() {
      let start = clock.now
      do throws(SQLiteError) {
        try connection.execute("PRAGMA incremental_vacuum(\(pages))")
      } catch {
        // The log takes up what a slice moves.
        guard error.kind == .noRoom, pages > Self.fewestPagesOfSlice else {
          throw StoreError(error, path: files.path)
        }
        pages /= 4
        continue
      }
      guard inUse else { continue }
      let took = clock.now - start
      if isPrivateCopy || took < .milliseconds(10) { pages = min(pages * 2, 4_096) }
      if isPrivateCopy { continue }
      if took > .milliseconds(30) { pages = max(pages / 2, 1) }
      CurrentProcess.sleep(milliseconds: 10)
    }
    return .slices
  }

  /// Whether the file is longer than the database in it, as a crash leaves it that comes before the end of a file
  /// without a log is cut off. Whoever copies a log into the file, which has something in it then, cuts that off.
  private func hasTail() throws(StoreError) -> Bool {
    let size = try bytes(ofPages: number("PRAGMA page_count"))
    guard let file = try? FileStatus.of(files.database), file.size > size else { return false }
    return (try? FileStatus.of(files.wal))?.size ?? 0 == 0
  }

  /// Rewrites the database.
  ///
  /// The copy that SQLite makes of all that stays is a file without a name, as memory may not hold it.
  ///
  /// - Returns: `false` if it was stopped, and is as it was.
  private func rewrite(unless shouldStop: () -> Bool) throws(SQLiteError) -> Bool {
    try connection.execute("PRAGMA temp_store = FILE")
    defer { try? connection.execute("PRAGMA temp_store = MEMORY") }
    do throws(SQLiteError) {
      try connection.execute("VACUUM", unless: shouldStop)
      return true
    } catch {
      guard error.kind == .interrupted else { throw error }
      return false
    }
  }

  /// Whether the file system has room for the copy that SQLite makes, and for its log.
  private func hasRoomForRewrite() throws(StoreError) -> Bool {
    let used = try bytes(ofPages: number("PRAGMA page_count") - number("PRAGMA freelist_count"))
    guard let room = try? FileSystemStatus.of(files.folder).availableBytes else { return false }
    return room > used * 3
  }

  private func bytes(ofPages count: Int64) throws(StoreError) -> ByteCount {
    try ByteCount(number("PRAGMA page_size")) * Int(count)
  }

  private func run(_ sql: String) throws(StoreError) {
    do throws(SQLiteError) { try connection.execute(sql) } catch {
      throw StoreError(error, path: files.path)
    }
  }

  private func number(_ sql: String) throws(StoreError) -> Int64 {
    do throws(SQLiteError) {
      var rows = try connection.prepare(sql)
      return try rows.step() ? rows.integer(at: 0) : 0
    } catch {
      throw StoreError(error, path: files.path)
    }
  }
}
