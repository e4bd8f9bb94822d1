/// Coded data on its way into libarchive, which asks for it piece by piece.
///
/// libarchive joins the members of gzip, and looks neither at their checksums nor at their lengths. To
/// look at them here, one has to know where a member ends, and only the decoder does. It shows when it
/// asks for more: amid a member all that it got is used up; at the end of one it waits for the trailer,
/// with up to seven bytes not used; and only before the next it waits for a header, which takes more.
/// So a piece ends at the eighth byte of all that could be a header, and eight bytes that are not
/// used are the beginning of the next member.
@safe
final class CodedInput {
  private static let pieceSize = 1_024
  private static let trailerSize = 8
  private static let mark: [UInt8] = [0x1F, 0x8B]

  /// The most bytes of a header, which libarchive keeps in memory as long as it has not got all of it.
  private static let longestHeader = 1 << 20

  private let coding: ContentCoding
  private let read: (inout [UInt8]) throws -> Int

  /// The memory of the piece that libarchive looks at: it stays where it is.
  private let piece: UnsafeMutableBufferPointer<UInt8>

  private var chunk = [UInt8](repeating: 0, count: 1 << 16)

  /// What was read, from the last trailer or the last byte that is not used on.
  private var window: [UInt8] = []
  private var windowStart: Int64 = 0

  /// Where the run began, and what comes next.
  private var start: Int64 = 0
  private var next: Int64 = 0

  /// Where the last two bytes were that a header of gzip begins with.
  private var lastMark: Int64 = -8

  private var isReadWhole = false

  /// Whether libarchive asked for more than there is, in this run.
  private(set) var isExhausted = false

  /// Why there is no more, if it could not be read.
  private(set) var failure: (any Error)?

  init(_ coding: ContentCoding, reading read: @escaping (inout [UInt8]) throws -> Int) {
    self.coding = coding
    self.read = read
    unsafe piece = .allocate(capacity: Self.pieceSize)
  }

  deinit {
    unsafe piece.deallocate()
  }

  /// The end of what was read: once all is, the number of bytes.
  var end: Int64 { windowStart + Int64(window.count) }

  /// Begins a run of libarchive at `offset`, where the last one has stopped.
  ///
  /// - Returns: Whether there is anything.
  func begin(at offset: Int64) throws -> Bool {
    (start, next, isExhausted) = (offset, offset, false)
    let isThere = next < end || readOn(keepingFrom: offset)
    if let failure { throw failure }
    return isThere
  }

  /// The checksum, and the length modulo 2^32, of the member that ends at `offset`.
  func trailer(endingAt offset: Int64) -> (checksum: UInt32, length: UInt32) {
    let trailer = window[..<Int(offset - windowStart)].suffix(Self.trailerSize)
    let number = { (bytes: ArraySlice<UInt8>) in
      bytes.reversed().reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
    }
    return (number(trailer.prefix(4)), number(trailer.suffix(4)))
  }

  /// The next piece, which stays until the next call; without bytes at the end of the run.
  ///
  /// - Parameter used: The number of bytes of this run that libarchive has used up.
  func nextPiece(used: Int64) -> UnsafeRawBufferPointer {
    let place = start + used
    let mostUnused = used == 0 ? Self.longestHeader : Self.trailerSize
    if coding == .gzip, next - place >= mostUnused { return unsafe piece(of: []) }
    guard next < end || readOn(keepingFrom: place - Int64(Self.trailerSize)) else {
      return unsafe lastPiece()
    }
    let first = Int(next - windowStart)
    let bytes = window[first..<pieceEnd(from: first)]
    next += Int64(bytes.count)
    if window[..<bytes.endIndex].suffix(2).elementsEqual(Self.mark) { lastMark = next - 2 }
    return unsafe piece(of: bytes)
  }

  /// Where a piece ends that begins at an index of the window.
  private func pieceEnd(from first: Int) -> Int {
    if next - lastMark < Self.trailerSize { return first + 1 }
    let end = min(window.count, first + Self.pieceSize)
    guard coding == .gzip else { return end }
    let mark = (max(first, 1)..<end).first { window[$0] == 0x8B && window[$0 - 1] == 0x1F }
    return mark.map { $0 + 1 } ?? end
  }

  /// What comes after all bytes.
  ///
  /// libarchive does not say when a trailer is missing. So it gets one of no meaning once, and if that
  /// is used, it was.
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

  /// Reads more, and drops what is before `offset`.
  ///
  /// - Returns: Whether there is more.
  private func readOn(keepingFrom offset: Int64) -> Bool {
    // A file that grows meanwhile ends where its end was met.
    guard !isReadWhole else { return false }
    do {
      let count = try read(&chunk)
      if offset > windowStart {
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
