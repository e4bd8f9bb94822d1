internal import CArchive

/// A source of coded data for libarchive, which requests it in chunks.
///
/// libarchive joins the members of a gzip file and checks neither their checksums nor their lengths. To
/// check them here, the end of each member must be known, and only the decoder knows it. The number of bytes
/// that it has not used when it requests more shows where it is: none within a member; up to seven at the
/// end of one, where it waits for the trailer; more only before the next one, where it waits for a header.
/// So a chunk ends at the eighth byte of everything that could be a header, and eight unused bytes are the
/// beginning of the next member.
@safe
final class CodedInput {
  private static let pieceSize = 1_024
  private static let trailerSize = 8
  private static let mark: [UInt8] = [0x1F, 0x8B]

  /// The longest header, in bytes, which libarchive keeps in memory until it is complete.
  // A header can contain a name and a comment without end (RFC 1952 §2.3). A name of 30 MB took 80
  // MB of memory.
  private static let longestHeader = 1 << 20

  private let coding: ContentCoding
  /// Fills the start of an array with bytes of the data from an offset.
  private let read: (_ buffer: inout [UInt8], _ offset: Int64) throws -> Int

  /// The chunk that libarchive reads, at a fixed address.
  private let piece: UnsafeMutableBufferPointer<UInt8>

  private var chunk = [UInt8](repeating: 0, count: 1 << 16)

  /// The bytes read, starting at the last trailer or the last unused byte.
  private var window: [UInt8] = []
  private var windowStart: Int64 = 0

  /// The offset at which the run began.
  private var start: Int64 = 0
  /// The offset of the next chunk.
  private(set) var next: Int64 = 0

  /// The offset of the last two bytes with which a gzip header begins.
  // At the start, the last mark is as far away as if a whole trailer followed it.
  private var lastMark: Int64 = -8

  private var isReadWhole = false

  /// Whether libarchive requested more data than there is, in this run.
  private(set) var isExhausted = false

  /// Why no more data could be read, if it could not.
  private(set) var failure: (any Error)?

  /// - Parameter read: Fills the start of an array with bytes of the data from an offset, and returns their number; 0 at
  ///   the end. The offset is where the last call ended, unless ``begin(at:)`` got another one.
  init(
    _ coding: ContentCoding,
    reading read: @escaping (_ buffer: inout [UInt8], _ offset: Int64) throws -> Int
  ) {
    self.coding = coding
    self.read = read
    unsafe piece = .allocate(capacity: Self.pieceSize)
  }

  deinit {
    unsafe piece.deallocate()
  }

  /// The end of the data read so far; at the end of the data, its length.
  var end: Int64 { windowStart + Int64(window.count) }

  /// Starts a run of libarchive at `offset`.
  ///
  /// - Returns: Whether there is any data.
  func begin(at offset: Int64) throws -> Bool {
    if !(windowStart...end ~= offset) { (window, windowStart, isReadWhole) = ([], offset, false) }
    (start, next, isExhausted) = (offset, offset, false)
    let isThere = next < end || readOn(keepingFrom: offset)
    if let failure { throw failure }
    return isThere
  }

  /// Returns the data from an offset in the window on: at least `count` bytes, unless there are fewer.
  func window(from offset: Int64, atLeast count: Int) -> ArraySlice<UInt8> {
    while end - offset < Int64(count), readOn(keepingFrom: offset) {}
    return window[Int(offset - windowStart)...]
  }

  /// Returns the checksum and the length modulo 2^32 of the member that ends at `offset`.
  func trailer(endingAt offset: Int64) -> (checksum: UInt32, length: UInt32) {
    let trailer = window[..<Int(offset - windowStart)].suffix(Self.trailerSize)
    let number = { (bytes: ArraySlice<UInt8>) in
      bytes.reversed().reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
    }
    return (number(trailer.prefix(4)), number(trailer.suffix(4)))
  }

  /// Returns the next chunk, which is valid until the next call; empty at the end of the run.
  ///
  /// - Parameter used: The number of bytes of this run that libarchive has used.
  func nextPiece(used: Int64) -> UnsafeRawBufferPointer {
    let place = start + used
    let mostUnused = used == 0 ? Self.longestHeader : Self.trailerSize
    // An empty chunk ends the run. The unused bytes are the next member, which gets a run of its
    // own, because libarchive would not say where the checksum between the two is.
    if coding == .gzip, next - place >= mostUnused { return unsafe piece(of: []) }
    // libarchive skips a trailer before it is known here that the member ends, so the last eight
    // used bytes must still be there.
    guard next < end || readOn(keepingFrom: place - Int64(Self.trailerSize)) else {
      return unsafe lastPiece()
    }
    let first = Int(next - windowStart)
    let bytes = window[first..<pieceEnd(from: first)]
    next += Int64(bytes.count)
    if window[..<bytes.endIndex].suffix(2).elementsEqual(Self.mark) { lastMark = next - 2 }
    return unsafe piece(of: bytes)
  }

  /// Returns the end of a chunk that begins at an index of the window.
  private func pieceEnd(from first: Int) -> Int {
    // After two bytes with which a header could begin, chunks of one byte let libarchive request
    // the next one each time. It starts to decode a member only once it has the ten bytes of a
    // header, and is stopped before.
    if next - lastMark < Self.trailerSize { return first + 1 }
    let end = min(window.count, first + Self.pieceSize)
    guard coding == .gzip else { return end }
    let mark = (max(first, 1)..<end).first { window[$0] == 0x8B && window[$0 - 1] == 0x1F }
    return mark.map { $0 + 1 } ?? end
  }

  /// Returns a chunk after the end of the data.
  ///
  /// libarchive does not report a missing trailer. So it gets a meaningless one once; if libarchive uses it, the
  /// trailer was missing.
  private func lastPiece() -> UnsafeRawBufferPointer {
    let isFirst = !isExhausted
    isExhausted = true
    guard coding == .gzip, isFirst, failure == nil else { return unsafe piece(of: []) }
    return unsafe piece(of: Array(repeating: 0xFF, count: Self.trailerSize)[...])
  }

  private func piece(of bytes: ArraySlice<UInt8>) -> UnsafeRawBufferPointer {
    unsafe _ = piece.update(fromContentsOf: bytes)
    return unsafe UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: piece[..<bytes.count]))
  }

  /// Reads more data, and drops the data before `offset`.
  ///
  /// - Returns: Whether there is more data.
  private func readOn(keepingFrom offset: Int64) -> Bool {
    // If the file grows meanwhile, ignore what was added after its end was reached.
    guard !isReadWhole else { return false }
    do {
      let count = try read(&chunk, end)
      // Only when that is most of the window: moving the rest each time would copy all data several times.
      if offset - windowStart > end - offset {
        window.removeFirst(Int(offset - windowStart))
        windowStart = offset
      }
      window += chunk[..<count]
      isReadWhole = count == 0
      return count > 0
    } catch {
      failure = error
      return false
    }
  }
}

/// The decoded data of a compressed tar archive, in chunks.
@safe
final class DecodedInput {
  private let handle: ReadHandle
  private let input: ArchiveInput
  private let piece: UnsafeMutableRawBufferPointer

  /// The number of bytes decoded.
  private(set) var count: Int64 = 0

  /// The number of bytes in the last chunk.
  private var pieceCount = 0

  private var headerCheck = TarHeaderCheck()

  /// Why decoding stopped before the end, if it did.
  private(set) var failure: (any Error)?

  init(_ coding: ContentCoding, of input: ArchiveInput) throws {
    handle = try ReadHandle()
    self.input = input
    unsafe piece = .allocate(byteCount: 1 << 16, alignment: 16)
    // `self` is fully initialized, so `deinit` runs if an error is thrown below.
    // A filter that is appended is applied once. One that is merely supported is applied as often
    // as its signature matches, so a file compressed many times over would be decoded through all
    // layers.
    let filter = coding == .gzip ? ARCHIVE_FILTER_GZIP : ARCHIVE_FILTER_ZSTD
    // A warning means that libarchive would run another program.
    guard unsafe archive_read_append_filter(handle.pointer, filter) == ARCHIVE_OK,
      unsafe archive_read_support_format_raw(handle.pointer) == ARCHIVE_OK
    else { throw ArchiveError("this system's libarchive does not support \(coding.rawValue)") }
    var entry: OpaquePointer?
    guard unsafe input.open(handle.pointer),
      unsafe archive_read_next_header(handle.pointer, &entry) == ARCHIVE_OK
    else { throw unsafe input.failure ?? ArchiveError(of: handle.pointer) }
  }

  deinit {
    unsafe piece.deallocate()
  }

  /// Returns the next chunk, which is valid until the next call; empty at the end, `nil` after a failure.
  func next() -> UnsafeRawBufferPointer? {
    guard failure == nil else { return nil }
    let read = unsafe archive_read_data(handle.pointer, piece.baseAddress, piece.count)
    guard read >= 0 else {
      unsafe failure = input.failure ?? ArchiveError(of: handle.pointer)
      return nil
    }
    count += Int64(read)
    pieceCount = read
    let bytes = unsafe UnsafeRawBufferPointer(rebasing: piece[..<read])
    do throws(ArchiveError) { try unsafe headerCheck.check(bytes) } catch {
      failure = error
      return nil
    }
    return unsafe bytes
  }

  /// Returns what follows the first `used` bytes in the last chunk, or the next chunk if that is used up.
  func tail(from used: Int64) -> [UInt8] {
    let unused = Int(min(max(count - used, 0), Int64(pieceCount)))
    if unused == 0 { return unsafe next().map { unsafe Array($0) } ?? [] }
    return unsafe Array(piece[(pieceCount - unused)..<pieceCount])
  }
}

/// A run of libarchive over coded data: a gzip member, or all frames of zstd.
@safe
struct DecodingRun: ~Copyable {
  private let handle: ReadHandle
  private let input: CodedInput
  private let start: Int64
  private let hasBytes: Bool

  /// Starts at the position of `input`, which is `start`.
  init(
    _ coding: ContentCoding, of input: CodedInput, from start: Int64
  ) throws(ContentDecodingError) {
    let handle: ReadHandle
    do throws(ArchiveError) { handle = try ReadHandle() } catch { throw .outOfMemory }
    let filter =
      switch coding {
      case .gzip: ARCHIVE_FILTER_GZIP
      case .zstd: ARCHIVE_FILTER_ZSTD
      }
    // A warning means that libarchive would run another program.
    guard unsafe archive_read_append_filter(handle.pointer, filter) == ARCHIVE_OK,
      unsafe archive_read_support_format_raw(handle.pointer) == ARCHIVE_OK,
      // Without this format, valid data that decodes to nothing would be an unknown archive.
      unsafe archive_read_support_format_empty(handle.pointer) == ARCHIVE_OK
    else { throw .notSupported(coding) }
    hasBytes = try Self.open(handle, input, start)
    self.handle = handle
    self.input = input
    self.start = start
  }

  /// The offset of the first unused byte, which is beyond the end if a trailer is missing.
  var place: Int64 { handle.place(from: start) }

  /// Reads the next bytes into the start of `buffer`.
  ///
  /// - Returns: The number of bytes; 0 at the end.
  mutating func read(into buffer: inout [UInt8]) throws(ContentDecodingError) -> Int {
    guard hasBytes else { return 0 }
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      unsafe archive_read_data(handle.pointer, bytes.baseAddress, bytes.count)
    }
    guard count >= 0 else { throw handle.failure(of: input, from: start) }
    return count
  }

  /// Starts to decode.
  ///
  /// - Returns: Whether there is anything to decode.
  private static func open(
    _ handle: borrowing ReadHandle, _ input: CodedInput, _ start: Int64
  ) throws(ContentDecodingError) -> Bool {
    // The input outlives the handle: the run owns both, and frees the handle first.
    let context = unsafe Unmanaged.passUnretained(input).toOpaque()
    let code = unsafe archive_read_open2(
      handle.pointer, context, nil,
      { handle, context, block in
        guard let context = unsafe context else { return -1 }
        let input = unsafe Unmanaged<CodedInput>.fromOpaque(context).takeUnretainedValue()
        let piece = unsafe input.nextPiece(used: max(0, archive_filter_bytes(handle, -1)))
        unsafe block?.pointee = piece.baseAddress
        return input.failure == nil ? piece.count : -1
      }, nil, nil)
    // libarchive decodes the first bytes here, and reports their errors only in the message: for the next call,
    // data that cannot be decoded is empty.
    guard code == ARCHIVE_OK, unsafe archive_error_string(handle.pointer) == nil else {
      throw handle.failure(of: input, from: start)
    }
    var entry: OpaquePointer?
    switch unsafe archive_read_next_header(handle.pointer, &entry) {
    case ARCHIVE_OK: return true
    case ARCHIVE_EOF where unsafe archive_error_string(handle.pointer) == nil: return false
    default: throw handle.failure(of: input, from: start)
    }
  }
}

extension ReadHandle {
  /// Returns the offset of the first unused byte, for data that starts at `start`.
  fileprivate borrowing func place(from start: Int64) -> Int64 {
    start + max(0, unsafe archive_filter_bytes(pointer, -1))
  }

  fileprivate borrowing func failure(
    of input: CodedInput, from start: Int64
  ) -> ContentDecodingError {
    if input.isExhausted { return .endsTooEarly(input.end) }
    let message = unsafe archive_error_string(pointer)
    return .broken(
      from: place(from: start), because: unsafe message.map { unsafe String(cString: $0) })
  }
}
