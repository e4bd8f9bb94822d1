internal import CSQLite

#if canImport(Glibc)
  private import Glibc
#elseif canImport(Darwin)
  private import Darwin
#endif

/// The last writes to a file, which follow each other in it and are made together; long ones on a thread of their own.
///
/// SQLite writes a frame of its log in two parts, the header and the page, so that nearly every write begins and ends within
/// a block of the file system. For a block that is new, the system first fills the rest with zeros. Of the removal of 100,000
/// of 1,000,000 responses, a third was spent on such writes.
@safe
struct GatheredWrites: ~Copyable {
  /// Makes a write, and returns a result code of SQLite. Two writes are never made at the same time.
  typealias Writing = @Sendable (UnsafeRawBufferPointer, Int64) -> Int32

  /// How a write has ended.
  struct Outcome {
    /// The result code of SQLite.
    var code = SQLITE_OK
    /// What the system call left in `errno`, which SQLite looks at after an error.
    var systemNumber: Int32 = 0
  }

  /// A part of the file that is in memory.
  private struct Part {
    var start: Int64 = 0
    var count = 0
    /// The place in the memory.
    let place: Int

    var range: Range<Int64> { start..<start + Int64(count) }
  }

  /// The largest number of bytes to write at once. SQLite's usual file system uses the lower 17 bits of a length.
  static let longest = 1 << 16

  // With two, each of the threads woke the other one for every part, and both were idle for half of a removal.
  /// The largest number of parts in memory: one that is gathered, and those that the thread is yet to write.
  static let mostParts = 8

  private let makeWrite: Writing
  private let longestWithoutThread: Int64
  private let memory: UnsafeMutableRawBufferPointer
  /// What is yet to be written.
  private var gathered = Part(place: 0)
  /// What the thread is yet to write, in the order of the writes.
  private var passedOn: [Part] = []
  private var thread: WritingThread?
  /// The number of bytes that were written since the last flush.
  private var writtenBytes: Int64 = 0
  /// The failed write of which no write or flush has told yet.
  private var failure: Outcome?

  /// - Parameter longestWithoutThread: How many bytes are written between two flushes before a thread is used. Most
  ///   changes are shorter than by default, and need none.
  init(longestWithoutThread: Int64 = 4 << 20, _ makeWrite: @escaping Writing) {
    unsafe self.makeWrite = makeWrite
    self.longestWithoutThread = longestWithoutThread
    unsafe memory = .allocate(byteCount: Self.mostParts * Self.longest, alignment: 4_096)
  }

  deinit {
    for _ in passedOn { _ = thread?.outcome() }
    unsafe memory.deallocate()
  }

  /// Adds a write. If it neither continues nor changes the ones before it, these are made.
  ///
  /// - Returns: The result code of SQLite: that of an earlier write if one failed. After an error, the write is not added.
  mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
    guard failure == nil else { return flush() }
    let isNext = gathered.start...gathered.range.upperBound ~= offset
    if !isNext || Int(offset - gathered.start) + bytes.count > Self.longest {
      makeRoom(for: bytes.count)
      guard failure == nil else { return flush() }
      guard bytes.count <= Self.longest else { return unsafe makeWrite(bytes, offset) }
      gathered.start = offset
    }
    let start = Int(offset - gathered.start)
    unsafe UnsafeMutableRawBufferPointer(rebasing: memory[(gathered.place + start)...])
      .copyMemory(from: bytes)
    gathered.count = max(gathered.count, start + bytes.count)
    return SQLITE_OK
  }

  /// Makes all writes.
  ///
  /// - Returns: The result code of SQLite. After an error, the writes are dropped: SQLite rolls back what it wrote, and
  ///   may write less next time.
  mutating func flush() -> Int32 {
    defer { (failure, writtenBytes) = (nil, 0) }
    return makeAll()
  }

  /// Makes all writes, for a caller that may ignore an error: the next write or flush reports it as well.
  ///
  /// - Returns: The result code of SQLite.
  mutating func makeAll() -> Int32 {
    finish()
    if failure == nil, gathered.count > 0 {
      let code = unsafe makeWrite(bytes(of: gathered), gathered.start)
      note(Outcome(code: code, systemNumber: errno))
      writtenBytes += Int64(gathered.count)
    }
    gathered.count = 0
    return codeOfFailure()
  }

  /// Fills a buffer with bytes of the file, some of which may be yet to be written.
  ///
  /// - Parameter read: Fills a buffer from an offset of the file, and returns a result code of SQLite.
  /// - Returns: The result code of SQLite: that of an earlier write if one failed.
  mutating func read(
    _ buffer: UnsafeMutableRawBufferPointer, at offset: Int64,
    _ read: (UnsafeMutableRawBufferPointer, Int64) -> Int32
  ) -> Int32 {
    let range = offset..<offset + Int64(buffer.count)
    let isChanged = gathered.range.overlaps(range)
    if let part = isChanged ? gathered : passedOn.last(where: { $0.range.overlaps(range) }),
      part.range.lowerBound <= range.lowerBound, range.upperBound <= part.range.upperBound
    {
      let start = Int(offset - part.start)
      unsafe buffer.copyMemory(
        from: .init(rebasing: bytes(of: part)[start..<start + buffer.count]))
      return SQLITE_OK
    }
    // SQLite may go on with the transaction after an error of a read.
    if isChanged { _ = makeAll() } else { finish() }
    return failure == nil ? unsafe read(buffer, offset) : codeOfFailure()
  }

  /// Makes the writes, or lets the thread make them.
  ///
  /// - Parameter count: The number of bytes that are to be gathered next.
  private mutating func makeRoom(for count: Int) {
    // The thread takes as long as a write of a few bytes.
    guard gathered.count > Self.longest / 2, count <= Self.longest,
      writtenBytes >= longestWithoutThread
    else {
      _ = makeAll()
      return
    }
    if passedOn.count == Self.mostParts - 1 { finishFirst() }
    guard failure == nil else { return }
    let thread = thread ?? WritingThread()
    self.thread = thread
    unsafe thread.write(bytes(of: gathered), gathered.start, makeWrite)
    writtenBytes += Int64(gathered.count)
    passedOn.append(gathered)
    gathered = Part(place: (gathered.place + Self.longest) % (Self.mostParts * Self.longest))
  }

  /// Waits until the thread has made all its writes.
  private mutating func finish() {
    while !passedOn.isEmpty { finishFirst() }
    // It makes no more writes.
    if failure != nil { thread = nil }
  }

  /// Waits until the thread has made its first write.
  private mutating func finishFirst() {
    passedOn.removeFirst()
    if let outcome = thread?.outcome() { note(outcome) }
  }

  private mutating func note(_ outcome: Outcome) {
    if failure == nil, outcome.code != SQLITE_OK { failure = outcome }
  }

  /// Returns the result code of a failed write, after setting `errno`; `SQLITE_OK` if none failed.
  private borrowing func codeOfFailure() -> Int32 {
    guard let failure else { return SQLITE_OK }
    errno = failure.systemNumber
    return failure.code
  }

  private borrowing func bytes(of part: Part) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(rebasing: memory[part.place..<part.place + part.count])
  }
}
