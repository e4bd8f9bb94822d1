import Archive
import Bytes

/// A file with random access, from any thread.
struct FileBytes: Sendable {
  /// Returns the size, in bytes; waits for the end of a file that is being written.
  let size: @Sendable () -> ByteCount
  /// Reads bytes at an offset into the front of an array, and returns their number; 0 at the end.
  let read: @Sendable (_ buffer: inout [UInt8], _ offset: Int64) throws -> Int
}

/// The bytes of a WARC file from a place on, decompressed if necessary.
final class WARCInput {
  /// A place in the file.
  struct Place: Hashable {
    /// The offset of the gzip member, or the place itself in an uncompressed file.
    var member: Int64 = 0
    /// The number of decoded bytes of the member before the place.
    var offset: Int64 = 0
  }

  private let coded: ContentReader?
  /// Decodes instead of `coded`.
  private let ahead: WARCPiecesAhead?
  private let readPlain: (inout [UInt8]) throws -> Int
  private let start: Int64
  private let progress: Progress

  private var buffer = [UInt8](repeating: 0, count: 1 << 16)
  private var unread = 0..<0
  /// The number of bytes of the member, or of the file from `start` on, before the end of the buffer.
  private var offset: Int64 = 0
  private var isInMember = false
  /// The offset of the member that `ahead` is in.
  private var memberAhead: Int64 = 0

  /// The number of bytes read from the file, and of bytes decoded from them.
  final class Progress {
    fileprivate(set) var (read, decoded): (ByteCount, ByteCount) = (0, 0)
  }

  /// Starts reading at a place.
  ///
  /// - Parameters:
  ///   - coding: The compression of the file.
  ///   - limit: The maximum number of decoded bytes.
  ///   - progress: Counts the bytes.
  init(
    _ file: FileBytes, _ coding: ContentCoding?, from place: Place = Place(), limit: Int64 = .max,
    counting progress: Progress = Progress()
  ) throws {
    start = place.member
    self.progress = progress
    readPlain = Self.reading(file, from: place.member, counting: progress)
    ahead = nil
    coded = coding.map { coding in
      ContentReader(coding, limit: limit) { try file.read(&$0, place.member + $1) }
    }
    try skip(place.offset)
  }

  /// Starts reading a whole file, only forward. If it is compressed, another thread decodes it.
  init(whole file: FileBytes, _ coding: ContentCoding?, counting progress: Progress) {
    start = 0
    self.progress = progress
    readPlain = Self.reading(file, from: 0, counting: progress)
    ahead = coding.map { WARCPiecesAhead(file, $0) }
    coded = nil
  }

  private static func reading(
    _ file: FileBytes, from start: Int64, counting progress: Progress
  ) -> (inout [UInt8]) throws -> Int {
    var next = start
    return { buffer in
      let count = try file.read(&buffer, next)
      next += Int64(count)
      progress.read += ByteCount(count)
      return count
    }
  }

  /// The place of the next byte.
  var place: Place {
    if ahead != nil { return Place(member: memberAhead, offset: offset - Int64(unread.count)) }
    guard let coded else { return Place(member: start + offset - Int64(unread.count)) }
    return Place(member: start + coded.memberStart, offset: offset - Int64(unread.count))
  }

  /// Skips forward to a place, unless opening the input again is cheaper.
  ///
  /// - Returns: Whether the input is at the place now.
  func advance(to target: Place) throws -> Bool {
    let ahead = target.member - place.member
    guard ahead >= 0, ahead > 0 || target.offset >= place.offset else { return false }
    if ahead > 0, let coded {
      // The members in between are not decoded.
      coded.move(toMemberAt: target.member - start)
      (unread, isInMember) = (0..<0, false)
      guard try !isAtEnd() else { return false }
    } else if ahead > 0 {
      guard ahead <= Self.nearness else { return false }
      try skip(ahead)
    }
    guard place.member == target.member, place.offset <= target.offset else { return false }
    try skip(target.offset - place.offset)
    return true
  }

  // As much as one read from the file, which would have to be made again at the new place.
  /// The distance up to which skipping is preferred to opening the input again.
  private static let nearness: Int64 = 1 << 16

  /// Whether the input has ended.
  func isAtEnd() throws -> Bool {
    while unread.isEmpty {
      if let ahead {
        guard let piece = try ahead.next() else { return true }
        take(piece)
        continue
      }
      let count = try fill()
      if count == 0 {
        guard let coded, try coded.nextMember() else { return true }
        (isInMember, offset) = (true, 0)
        continue
      }
      unread = 0..<count
      offset += Int64(count)
      progress.decoded += ByteCount(count)
    }
    return false
  }

  private func take(_ piece: WARCPiecesAhead.Piece) {
    (buffer, unread, memberAhead) = (piece.bytes, piece.bytes.indices, piece.member)
    offset = (piece.startsMember ? 0 : offset) + Int64(unread.count)
    progress.read = ByteCount(piece.decodedEnd)
    progress.decoded += ByteCount(unread.count)
  }

  private func fill() throws -> Int {
    guard let coded else { return try readPlain(&buffer) }
    guard isInMember else { return 0 }
    let count = try coded.read(into: &buffer)
    isInMember = count > 0
    // Not what was read ahead of the decoder: a small file that decodes to gigabytes could be read as a whole.
    progress.read = ByteCount(coded.decodedEnd)
    return count
  }

  /// Returns the next byte without consuming it; `nil` at the end.
  func peek() throws -> UInt8? {
    try isAtEnd() ? nil : buffer[unread.lowerBound]
  }

  /// Reads up to `count` bytes.
  ///
  /// - Returns: The bytes; empty only at the end.
  func read(upTo count: Int64) throws -> ArraySlice<UInt8> {
    guard try !isAtEnd() else { return [] }
    let range = unread.prefix(Int(clamping: count))
    unread = unread.dropFirst(range.count)
    return buffer[range]
  }

  /// Reads bytes up to and including a line feed.
  ///
  /// - Returns: The bytes; without a line feed at the end of the input, or if there are `limit` bytes before one.
  func line(upTo limit: Int) throws -> [UInt8] {
    var line: [UInt8] = []
    while line.count < limit, try !isAtEnd() {
      let piece = unread.prefix(limit - line.count)
      let length = buffer.span.extracting(piece).lengthOfLine
      let end = piece.lowerBound + (length ?? piece.count)
      line += buffer[piece.lowerBound..<end]
      unread = end..<unread.upperBound
      if length != nil { break }
    }
    return line
  }

  /// Skips bytes, or to the end if there are fewer.
  func skip(_ count: Int64) throws {
    var rest = count
    while rest > 0, case let count = try read(upTo: rest).count, count > 0 { rest -= Int64(count) }
  }
}

extension Span<UInt8> {
  /// The length of the first line, with its line feed; `nil` without one.
  fileprivate var lengthOfLine: Int? {
    for place in indices where self[place] == 0x0A { return place + 1 }
    return nil
  }
}

extension WARCInput.Place: Comparable {
  static func < (lhs: Self, rhs: Self) -> Bool {
    (lhs.member, lhs.offset) < (rhs.member, rhs.offset)
  }
}
