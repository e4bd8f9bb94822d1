internal import CSQLite

/// The parts of a file that are in memory because they are likely to be read next.
///
/// SQLite reads a page at a time. If it reads a table to the end, a system call for every few rows takes as long as decoding
/// them. Tables that grow together lie interleaved in the file, so several parts are kept. SQLite walks through a table in
/// either direction.
@safe
struct RegionsAhead: ~Copyable {
  /// A part of the file.
  private struct Part {
    var start: Int64 = 0
    var end: Int64 = 0
    /// Whether its bytes are in memory. Otherwise it only was read, and may be continued.
    var isInMemory = false
    /// The number of the read that last needed it.
    var use = 0
    /// How many bytes of it were asked for; those that were asked for again count again.
    var asked: Int64 = 0
    /// The share of the bytes that were asked for, here and in the parts that this one continues; `nil` before the first
    /// is continued.
    var density: Double?
    /// The number of pages in its memory that SQLite uses.
    var holds = 0
  }

  /// The largest number of bytes to read at once.
  static let longest = 1 << 16
  /// The largest gap, in bytes, next to which a read still continues a part.
  private static let largestGap: Int64 = 1 << 14
  /// The smallest share of bytes that has to be needed. To copy a page takes nearly half of the time of a system call.
  private static let smallestDensity = 0.5

  /// The offset of the page that SQLite uses for locks: "Database File Format", 1.4.
  private static let pageForLocks: Int64 = 0x4000_0000

  private var parts = [Part](repeating: Part(), count: 8)
  private var uses = 0
  /// The part in which the last page was found: often the next one is there too.
  private var last = 0
  private let memory: UnsafeMutableRawBufferPointer

  init() {
    // Processors copy to a boundary of a page three times as fast. SQLite may read up to 256 bytes behind a page that is
    // damaged.
    unsafe memory = .allocate(byteCount: parts.count * Self.longest + 256, alignment: 4_096)
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 0)
  }

  deinit {
    unsafe memory.deallocate()
  }

  /// Fills a buffer with bytes of the file.
  ///
  /// - Parameters:
  ///   - size: The size of the file, in bytes.
  ///   - read: Fills a buffer from an offset, and returns a result code of SQLite.
  /// - Returns: The result code for these bytes alone.
  mutating func fill(
    _ buffer: UnsafeMutableRawBufferPointer, at offset: Int64, ofFileWith size: Int64,
    _ read: (UnsafeMutableRawBufferPointer, Int64) -> Int32
  ) -> Int32 {
    let range = offset..<offset + Int64(buffer.count)
    if let known = partInMemory(with: range) {
      unsafe copy(range, of: known, to: buffer)
      return SQLITE_OK
    }
    uses += 1
    let continued = partContinued(by: range)
    guard let place = placeForPart(continuing: continued) else {
      return unsafe read(buffer, offset)
    }
    var density: Double?
    if let continued { density = Self.density(of: parts[continued], continuedBy: range) }
    if let continued, let density, density >= Self.smallestDensity {
      let isAfter = range.lowerBound >= parts[continued].end
      let start =
        isAfter
        ? range.lowerBound : Self.beginning(ofSector: range.upperBound - Int64(Self.longest))
      let end = isAfter ? min(size, range.lowerBound + Int64(Self.longest)) : range.upperBound
      let part = unsafe UnsafeMutableRawBufferPointer(
        rebasing: memory[place * Self.longest..<(place + 1) * Self.longest])
      // If the file cannot be read that far, only what was asked for counts.
      if end - start >= Int64(buffer.count),
        unsafe read(.init(rebasing: part[..<Int(end - start)]), start) == SQLITE_OK
      {
        parts[place] = Part(start: start, end: end, isInMemory: true, density: density)
        unsafe copy(range, of: place, to: buffer)
        return SQLITE_OK
      }
    }
    parts[place] = Part(
      start: range.lowerBound, end: range.upperBound, use: uses, density: density)
    return unsafe read(buffer, offset)
  }

  /// Returns the place of a page in memory, if it is there, until ``release(_:)`` is called for it.
  ///
  /// SQLite holds the inner pages of a tree for as long as it reads the tree, so they are left out: they would hold their
  /// parts.
  mutating func hold(_ count: Int, at offset: Int64) -> UnsafeMutableRawPointer? {
    // SQLite reports damage if the page for locks is used, unless it gets it here.
    guard count > 0, offset != Self.pageForLocks else { return nil }
    let range = offset..<offset + Int64(count)
    guard let known = partInMemory(with: range),
      let start = unsafe memory.baseAddress
    else { return nil }
    let page = unsafe start + known * Self.longest + Int(offset - parts[known].start)
    // The first byte of an inner page: "Database File Format", 1.6.
    let kind = unsafe page.load(as: UInt8.self)
    guard kind != 2, kind != 5 else { return nil }
    note(range, in: known)
    parts[known].holds += 1
    return unsafe page
  }

  /// Ends the use of a page that ``hold(_:at:)`` has returned.
  mutating func release(_ page: UnsafeMutableRawPointer) {
    guard let start = unsafe memory.baseAddress else { return }
    unsafe parts[(page - start) / Self.longest].holds -= 1
  }

  /// Returns the first offset from `offset` on at which a page can begin.
  private static func beginning(ofSector offset: Int64) -> Int64 {
    max(0, (offset + 511) & ~511)
  }

  private func partInMemory(with range: Range<Int64>) -> Int? {
    if contains(range, part: last) { return last }
    for part in parts.indices where contains(range, part: part) { return part }
    return nil
  }

  private func contains(_ range: Range<Int64>, part: Int) -> Bool {
    parts[part].start <= range.lowerBound && range.upperBound <= parts[part].end
      && parts[part].isInMemory
  }

  /// Returns a part that a read continues, forwards or backwards.
  private func partContinued(by range: Range<Int64>) -> Int? {
    for part in parts.indices where parts[part].end > 0 {
      if 0...Self.largestGap ~= range.lowerBound - parts[part].end
        || 0...Self.largestGap ~= parts[part].start - range.upperBound
      {
        return part
      }
    }
    return nil
  }

  /// Returns the share of bytes that are asked for where a read continues a part.
  private static func density(of part: Part, continuedBy range: Range<Int64>) -> Double {
    let length = Int64(range.count)
    let (asked, passed) =
      if part.isInMemory {
        (part.asked, part.end - part.start)
      } else {
        (length, max(range.lowerBound - part.end, part.start - range.upperBound) + length)
      }
    // SQLite may ask for a page more than once.
    let new = min(1, Double(asked) / Double(passed))
    return part.density.map { (3 * $0 + new) / 4 } ?? new
  }

  /// Returns the part to replace: the one that a read continues, or that was not needed for longest; `nil` if SQLite uses
  /// pages of all.
  private func placeForPart(continuing part: Int?) -> Int? {
    if let part, parts[part].holds == 0 { return part }
    var oldest: Int?
    for part in parts.indices where parts[part].holds == 0 {
      if let known = oldest, parts[known].use <= parts[part].use { continue }
      oldest = part
    }
    return oldest
  }

  private mutating func note(_ range: Range<Int64>, in part: Int) {
    uses += 1
    last = part
    parts[part].use = uses
    parts[part].asked += Int64(range.count)
  }

  private mutating func copy(
    _ range: Range<Int64>, of part: Int, to buffer: UnsafeMutableRawBufferPointer
  ) {
    note(range, in: part)
    let start = part * Self.longest + Int(range.lowerBound - parts[part].start)
    unsafe buffer.copyMemory(from: .init(rebasing: memory[start..<start + buffer.count]))
  }
}

/// A database that is read ahead.
///
/// What was read ahead does not follow changes, so this is for databases that no process changes.
@safe
struct ReadAheadFile: ~Copyable, LayeredFile {
  /// The name of the file system with such databases.
  static let fileSystem = unsafe FileSystemLayer.register(
    "urlcache-admin-read-ahead", adding: Self.byteCount
  ) { system, name, file, flags, outFlags in
    let code = unsafe FileSystemLayer.open(system, name, file, flags, outFlags)
    if code == SQLITE_OK, flags & SQLITE_OPEN_MAIN_DB != 0, let file = unsafe file {
      unsafe readAhead(in: file, name)
    }
    return code
  }

  let usual: UnsafePointer<sqlite3_io_methods>
  private let names: OwnFileNames
  private var ahead = RegionsAhead()
  /// The size of the file, in bytes.
  private let size: Int64

  /// Makes an open database read ahead, unless its size is unknown.
  private static func readAhead(
    in file: UnsafeMutablePointer<sqlite3_file>, _ name: UnsafePointer<CChar>?
  ) {
    var size: Int64 = 0
    guard let usual = unsafe file.pointee.pMethods,
      unsafe usual.pointee.xFileSize(file, &size) == SQLITE_OK
    else { return unsafe OwnDatabaseFile.prepare(file, name) }
    var methods = unsafe usual.pointee
    // A database that nobody changes has no log, and so needs no shared memory.
    unsafe (methods.iVersion, methods.xShmMap) = (3, nil)
    unsafe methods.xRead = { file, buffer, count, offset in
      guard let file = unsafe file, let buffer = unsafe buffer else { return SQLITE_IOERR }
      let added = unsafe ReadAheadFile.of(file)
      let (usual, size) = unsafe (added.pointee.usual, added.pointee.size)
      return unsafe added.pointee.ahead.fill(
        .init(start: buffer, count: Int(count)), at: offset, ofFileWith: size
      ) { buffer, offset in
        unsafe usual.pointee.xRead(file, buffer.baseAddress, Int32(buffer.count), offset)
      }
    }
    // SQLite uses these for memory maps. Instead, they spare copying each page that was read ahead. The memory is private,
    // so unlike that of a map it stays as it is when another process changes or truncates the file.
    unsafe methods.xFetch = { file, offset, count, page in
      guard let file = unsafe file, let page = unsafe page else { return SQLITE_IOERR }
      unsafe page.pointee = ReadAheadFile.of(file).pointee.ahead.hold(Int(count), at: offset)
      return SQLITE_OK
    }
    unsafe methods.xUnfetch = { file, _, page in
      if let file = unsafe file, let page = unsafe page {
        unsafe ReadAheadFile.of(file).pointee.ahead.release(page)
      }
      return SQLITE_OK
    }
    unsafe methods.xFileControl = { file, code, argument in
      // The usual file system would map the file.
      guard let file = unsafe file, code != SQLITE_FCNTL_MMAP_SIZE else { return SQLITE_NOTFOUND }
      return unsafe ReadAheadFile.of(file).pointee.usual.pointee.xFileControl(file, code, argument)
    }
    unsafe methods.xClose = { file in
      guard let file = unsafe file else { return SQLITE_OK }
      return unsafe ReadAheadFile.close(file)
    }
    unsafe add(
      Self(usual: usual, names: OwnFileNames(of: name), size: size), with: methods, to: file)
  }
}
