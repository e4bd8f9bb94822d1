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
