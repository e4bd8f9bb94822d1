import Bytes
import Files
import SQLite

extension AppleStoreEditor {
  /// The number of free pages up to which slices are cheaper than a rewrite. The cost of slices grows
  /// faster than their number: each moves a page from the end and searches the freelist for its place.
  // Measured on a database of 1,000,000 responses: 61,000 free pages took 1.4 s, and 307,000 took
  // 38.5 s, while a VACUUM took 9 to 10 s in the second case.
  private static let mostPagesInSlices: Int64 = 100_000

  // The pages that one slice moves. While an app is running, slices start small so that it does not
  // wait for long. Otherwise they are large, as each slice waits for its writes, but short enough that
  // an app that opens the database meanwhile gets the lock before it gives up.
  private static let fewestPagesOfSlice: Int64 = 64
  private static let mostPagesOfSlice: Int64 = 16_384

  public func compact(
    fully: Bool, unless shouldStop: () -> Bool
  ) throws(StoreError) -> CompactionMethod {
    // In KiB: pages are moved once and in order, and a small page cache stays in the CPU cache.
    try run("PRAGMA cache_size = -512")
    let free = try number("PRAGMA freelist_count")
    // 2 is INCREMENTAL; `incremental_vacuum` does nothing in the other modes.
    let canSlice = try number("PRAGMA auto_vacuum") == 2
    // Slices shorten the file too, but only if there is a free page to remove.
    let needsRewrite = free > 0 ? free > Self.mostPagesInSlices || !canSlice : try hasTail()
    if fully || needsRewrite { try lookForOthers() }
    // VACUUM holds the write lock until it has written the whole database, which can take minutes.
    // CFNetwork waits for one second.
    if fully, inUse {
      throw StoreError(
        .inUse, at: files.path,
        because: "it can only be rewritten while no other process has it open")
    }
    if fully || !inUse && needsRewrite {
      if try hasRoomForRewrite() || fully {
        do throws(SQLiteError) {
          return try rewrite(unless: shouldStop) ? .rewrite : .none
        } catch {
          // VACUUM writes its copy to the temporary folder, which may be full; slices need less space.
          // If the user asked for a rewrite, a fallback to slices would report success for
          // something else.
          guard canSlice, !fully, error.kind == .noRoom || error.kind == .cannotOpen else {
            throw StoreError(error, path: files.path)
          }
        }
      }
    }
    guard free > 0, canSlice else { return .none }
    var pages = mayBeInUse ? Self.fewestPagesOfSlice : Self.mostPagesOfSlice
    let clock = ContinuousClock()
    // The number of free pages is read again for each slice, as an app that is running frees and
    // uses pages, too.
    var left = free
    while left > 0, !shouldStop() {
      var start = clock.now
      do throws(SQLiteError) {
        try transact { () throws(SQLiteError) in
          start = clock.now
          try connection.execute("PRAGMA incremental_vacuum(\(pages))")
        }
      } catch {
        // The write-ahead log needs room for what a slice moves, so try smaller slices.
        guard error.kind == .noRoom, pages > Self.fewestPagesOfSlice else {
          throw StoreError(error, path: files.path)
        }
        pages /= 4
        continue
      }
      let took = clock.now - start - readerWait
      let pagesBefore = left
      left = try number("PRAGMA freelist_count")
      WorkCounter.add(pagesBefore - left)
      guard mayBeInUse else { continue }
      // Grow while a slice is quick and shrink once it makes the app wait, then pause to let it write.
      if took < .milliseconds(10) { pages = min(pages * 2, 4_096) }
      if took > .milliseconds(30) { pages = max(pages / 2, Int64(smallestBatch)) }
      pauseForOthers(after: took)
    }
    return .slices
  }

  /// Whether the file is longer than its database, which a crash without a write-ahead log can leave.
  ///
  /// If the log has content, the next checkpoint cuts the file, so there is nothing to do.
  // SQLite opens a file that is longer than the page count in its header, and uses the part in the
  // header. So only the length of the file shows that there is something behind it.
  private func hasTail() throws(StoreError) -> Bool {
    let size = try bytes(ofPages: number("PRAGMA page_count"))
    guard let file = try? FileStatus.of(files.database), file.size > size else { return false }
    return (try? FileStatus.of(files.wal))?.size ?? 0 == 0
  }

  /// Rewrites the database.
  ///
  /// The temporary copy that SQLite makes goes to an unnamed file, as it may not fit into memory.
  ///
  /// - Returns: `false` if it was stopped; the database is then unchanged.
  func rewrite(unless shouldStop: () -> Bool) throws(SQLiteError) -> Bool {
    // In memory, the copy would count against SQLite's heap limit of 256 MiB. A larger cache could
    // then never be compacted, and the failure would look like damage.
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

  /// Whether the file system has room for the copy that SQLite makes and for its write-ahead log.
  private func hasRoomForRewrite() throws(StoreError) -> Bool {
    let used = try bytes(ofPages: number("PRAGMA page_count") - number("PRAGMA freelist_count"))
    guard let room = try? FileSystemStatus.of(files.folder).availableBytes else { return false }
    // The copy and the log each take up as much as the pages in use: a VACUUM that left 2.4 GB took
    // up 4.6 GB at its peak. The third share is a margin.
    return room > used * 3
  }

  private func bytes(ofPages count: Int64) throws(StoreError) -> ByteCount {
    try ByteCount(number("PRAGMA page_size")) * Int(count)
  }

  func run(_ sql: String) throws(StoreError) {
    do throws(SQLiteError) { try connection.execute(sql) } catch {
      throw StoreError(error, path: files.path)
    }
  }

  func number(_ sql: String) throws(StoreError) -> Int64 {
    do throws(SQLiteError) {
      var rows = try connection.prepare(sql)
      return try rows.step() ? rows.integer(at: 0) : 0
    } catch {
      throw StoreError(error, path: files.path)
    }
  }
}
