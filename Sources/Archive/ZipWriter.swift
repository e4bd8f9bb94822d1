internal import CArchive
internal import CDeflate

/// A sequential writer of a zip archive.
///
/// Members that fit into memory are compressed by libdeflate, twice as fast as libarchive does, and on any thread.
/// Larger ones are compressed by libarchive as they arrive.
final class ZipWriter {
  private let compressor: DeflateCompressor
  private let write: ([UInt8]) throws -> Void

  /// The bytes that were not passed on yet.
  private var pending: [UInt8] = []
  /// The number of bytes of the archive so far.
  private var offset: Int64 = 0
  /// The records of the directory, which is written at the end.
  private var directory: [UInt8] = []
  private var count: Int64 = 0

  /// The current member, if it is not complete.
  private var member: ZipRecord?
  /// Whether the current member is to be compressed.
  private var isCompressed = true
  /// The contents of the current member, until there are too many.
  private var contents: [UInt8] = []
  /// What the current member is written to, if its contents do not fit into memory.
  private var stream: Stream?

  /// The way of a large member into the archive.
  private enum Stream {
    case stored
    case deflated(DeflateStream)
  }

  init(level: Int, writing write: @escaping ([UInt8]) throws -> Void) throws(ArchiveError) {
    compressor = try DeflateCompressor(level: level)
    self.write = write
  }

  /// Writes a complete member.
  func append(_ name: String, _ contents: ZipMember) throws {
    var record = ZipRecord(name: Array(name.utf8))
    record.isDeflated = contents.isDeflated
    record.checksum = contents.checksum
    record.compressedSize = Int64(contents.data.count)
    record.size = Int64(contents.size)
    record.offset = offset
    try put(record.header)
    try put(contents.data)
    note(record)
  }

  /// Starts a member.
  func begin(_ name: String, size: Int64, isCompressed: Bool) throws {
    contents.removeAll(keepingCapacity: true)
    self.isCompressed = isCompressed
    member = ZipRecord(name: Array(name.utf8), size: size)
    if size == 0 { try end() }
  }

  /// Appends bytes to the current member.
  func append(_ bytes: ArraySlice<UInt8>, isLast: Bool) throws {
    if stream == nil {
      contents += bytes
      if contents.count > GzipMemberWriter.largestInMemory { try beginStream() }
    } else {
      try appendToStream(bytes)
    }
    if isLast { try end() }
  }

  /// Writes the directory.
  func finish() throws {
    let start = offset
    try put(directory)
    try put(ZipRecord.end(count: count, directoryAt: start, size: offset - start))
    try flush()
  }

  private func end() throws {
    guard var record = member.take() else { return }
    guard let stream = stream.take() else {
      let name = String(decoding: record.name, as: UTF8.self)
      let whole =
        isCompressed ? ZipMember(contents, by: compressor) : ZipMember(storing: contents)
      return try append(name, whole)
    }
    record.checksum = checksum.value
    if case .deflated(let data) = stream { try data.finish() }
    record.compressedSize = offset - dataStart
    try put(record.descriptor)
    note(record)
  }

  private var checksum = CRC32()
  /// The offset of the data of a streamed member.
  private var dataStart: Int64 = 0

  /// Starts to write a member whose contents do not fit into memory.
  private func beginStream() throws {
    guard var record = member else { return }
    record.offset = offset
    record.isStreamed = true
    record.isDeflated = isCompressed && compressor.seemsCompressible(contents)
    // Programs that read a pipe need the size of data that is not compressed. libarchive writes it there too.
    var announced = record
    announced.compressedSize = record.isDeflated ? 0 : record.size
    try put(announced.header)
    (dataStart, checksum, member) = (offset, CRC32(), record)
    stream =
      try record.isDeflated
      ? .deflated(DeflateStream(level: compressor.level) { [unowned self] in try put($0) })
      : .stored
    try appendToStream(contents[...])
    contents = []
  }

  private func appendToStream(_ bytes: ArraySlice<UInt8>) throws {
    checksum.append(bytes)
    switch stream {
    case .deflated(let data): try data.append(bytes)
    default: try put(bytes)
    }
  }

  private func note(_ record: ZipRecord) {
    record.appendDirectoryRecord(to: &directory)
    count += 1
  }

  private func put(_ bytes: some Collection<UInt8>) throws {
    offset += Int64(bytes.count)
    pending += bytes
    if pending.count >= 1 << 16 { try flush() }
  }

  private func flush() throws {
    try write(pending)
    pending.removeAll(keepingCapacity: true)
  }
}

/// Compresses data as it arrives, without a header (RFC 1951).
private final class DeflateStream {
  private var handle: WriteHandle?
  private let output: Output

  /// What libarchive has written: a gzip member, of which only the data is wanted.
  private final class Output {
    private let write: (ArraySlice<UInt8>) throws -> Void
    private var isBeyondHeader = false
    /// The last bytes, which may be the trailer.
    private var held: [UInt8] = []

    // libarchive writes neither a name nor a comment.
    private static let (headerSize, trailerSize) = (10, 8)

    init(writing write: @escaping (ArraySlice<UInt8>) throws -> Void) { self.write = write }

    func append(_ bytes: [UInt8]) throws {
      held += bytes
      if !isBeyondHeader {
        guard held.count >= Self.headerSize else { return }
        held.removeFirst(Self.headerSize)
        isBeyondHeader = true
      }
      let count = max(0, held.count - Self.trailerSize)
      try write(held[..<count])
      held.removeFirst(count)
    }
  }

  init(level: Int, writing write: @escaping (ArraySlice<UInt8>) throws -> Void) throws {
    let output = Output(writing: write)
    let handle = try WriteHandle(ArchiveOutput { try output.append($0) })
    try handle.openGzip(level: level)
    self.output = output
    self.handle = consume handle
  }

  func append(_ bytes: ArraySlice<UInt8>) throws { try handle?.write(bytes) }

  func finish() throws {
    guard let handle = handle.take() else { return }
    try handle.close()
  }
}

/// The checksum of gzip (RFC 1952, section 8).
struct CRC32 {
  /// The checksum of all bytes so far.
  private(set) var value: UInt32 = 0

  /// Adds bytes.
  mutating func append(_ bytes: ArraySlice<UInt8>) {
    // Without an address, libdeflate returns the checksum of no bytes.
    if bytes.isEmpty { return }
    value = unsafe bytes.withUnsafeBytes { bytes in
      unsafe libdeflate_crc32(value, bytes.baseAddress, bytes.count)
    }
  }
}
