internal import CSQLite

/// The last writes to a file, which follow each other in it and are made together.
///
/// SQLite writes a frame of its log in two parts, the header and the page, so that nearly every write begins and ends within
/// a block of the file system. For a block that is new, the system first fills the rest with zeros. To remove 100,000 of
/// 1,000,000 responses, half of the time was spent on 270,000 such writes.
@safe
struct GatheredWrites: ~Copyable {
  /// Makes a write, and returns a result code of SQLite.
  typealias Writing = (UnsafeRawBufferPointer, Int64) -> Int32

  /// The largest number of bytes to write at once. SQLite's usual file system uses the lower 17 bits of a length.
  static let longest = 1 << 16

  private let memory: UnsafeMutableRawBufferPointer
  /// The place of the bytes in the file.
  private var start: Int64 = 0
  /// The number of bytes that are yet to be written.
  private var count = 0

  init() { unsafe memory = .allocate(byteCount: Self.longest, alignment: 4_096) }

  deinit { unsafe memory.deallocate() }

  /// Adds a write. If it neither continues nor changes the ones before it, these are made first.
  ///
  /// - Returns: The result code of SQLite. After an error, the write is not added.
  mutating func write(
    _ bytes: UnsafeRawBufferPointer, at offset: Int64, _ write: Writing
  ) -> Int32 {
    let isNext = start...start + Int64(count) ~= offset
    if !isNext || Int(offset - start) + bytes.count > Self.longest {
      let code = unsafe flush(write)
      guard code == SQLITE_OK else { return code }
      guard bytes.count <= Self.longest else { return unsafe write(bytes, offset) }
      start = offset
    }
    let place = Int(offset - start)
    unsafe UnsafeMutableRawBufferPointer(rebasing: memory[place...]).copyMemory(from: bytes)
    count = max(count, place + bytes.count)
    return SQLITE_OK
  }

  /// Makes the writes.
  ///
  /// - Returns: The result code of SQLite. After an error, the writes are dropped: SQLite rolls back what it wrote, and
  ///   may write less next time.
  mutating func flush(_ write: Writing) -> Int32 {
    guard count > 0 else { return SQLITE_OK }
    defer { count = 0 }
    return unsafe write(.init(rebasing: memory[..<count]), start)
  }

  /// Fills a buffer with bytes of the file, some of which may be yet to be written.
  ///
  /// - Parameters:
  ///   - read: Fills a buffer from an offset of the file, and returns a result code of SQLite.
  ///   - write: Makes the writes, if the bytes are only in part in memory.
  /// - Returns: The result code of SQLite.
  mutating func read(
    _ buffer: UnsafeMutableRawBufferPointer, at offset: Int64,
    _ read: (UnsafeMutableRawBufferPointer, Int64) -> Int32, writingBy write: Writing
  ) -> Int32 {
    let gathered = start..<start + Int64(count)
    let range = offset..<offset + Int64(buffer.count)
    guard gathered.overlaps(range) else { return unsafe read(buffer, offset) }
    if gathered.lowerBound <= range.lowerBound, range.upperBound <= gathered.upperBound {
      let place = Int(offset - start)
      unsafe buffer.copyMemory(from: .init(rebasing: memory[place..<place + buffer.count]))
      return SQLITE_OK
    }
    let count = count
    let code = unsafe flush(write)
    guard code != SQLITE_OK else { return unsafe read(buffer, offset) }
    // SQLite may go on with the transaction after an error of a read.
    self.count = count
    return code
  }
}
