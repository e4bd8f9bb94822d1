import Archive
import Bytes

/// The bytes of a file that can be read from any place.
struct FileBytes {
  /// The number of bytes.
  let size: ByteCount
  /// Fills the front of an array from a place on, and returns the number of bytes; 0 at the end.
  let read: (_ buffer: inout [UInt8], _ offset: Int64) throws -> Int
}

/// The bytes of a WARC file from a place on, decoded if it is compressed.
final class WARCInput {
  /// A place in the file.
  struct Place: Hashable {
    /// Where the gzip member begins, or the place itself in a file that is not compressed.
    var member: Int64 = 0
    /// How many decoded bytes of the member come before the place.
    var offset: Int64 = 0
  }

  private let coded: ContentReader?
  private let readPlain: (inout [UInt8]) throws -> Int
  private let start: Int64
  private let progress: Progress

  private var buffer = [UInt8](repeating: 0, count: 1 << 16)
  private var unread = 0..<0
  /// How many bytes of the member, or of the file from `start` on, come before the end of the buffer.
  private var offset: Int64 = 0
  private var isInMember = false

  /// How much was read of the file, and how much came out of it.
  final class Progress {
    fileprivate(set) var (read, decoded): (ByteCount, ByteCount) = (0, 0)
  }

  /// Begins at a place.
  ///
  /// - Parameters:
  ///   - coding: How the file is compressed.
  ///   - limit: The most bytes that may come out.
  ///   - progress: What counts the bytes.
  init(
    _ file: FileBytes, _ coding: ContentCoding?, from place: Place = Place(), limit: Int64 = .max,
    counting progress: Progress = Progress()
  ) throws {
    start = place.member
    self.progress = progress
    var next = place.member
    let read = { (buffer: inout [UInt8]) in
      let count = try file.read(&buffer, next)
      next += Int64(count)
      progress.read += ByteCount(count)
      return count
    }
    readPlain = read
    coded = coding.map { ContentReader($0, limit: limit, reading: read) }
    try skip(place.offset)
  }

  /// The place of the next byte.
  var place: Place {
    guard let coded else { return Place(member: start + offset - Int64(unread.count)) }
    return Place(member: start + coded.memberStart, offset: offset - Int64(unread.count))
  }

  /// Goes forward to a place, if that is not far ahead.
  ///
  /// - Returns: Whether it is there now.
  func advance(to target: Place) throws -> Bool {
    let ahead = target.member - place.member
    guard 0...Self.nearness ~= ahead, ahead > 0 || target.offset >= place.offset else {
      return false
    }
    while place.member < target.member {
      let count = coded == nil ? target.member - place.member : .max
      guard try !read(upTo: count).isEmpty else { return false }
      // A member that is used up is not left before somebody asks for more.
      _ = try isAtEnd()
    }
    guard place.member == target.member, place.offset <= target.offset else { return false }
    try skip(target.offset - place.offset)
    return true
  }

  private static let nearness: Int64 = 1 << 16

  /// Whether nothing comes any more.
  func isAtEnd() throws -> Bool {
    while unread.isEmpty {
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

  private func fill() throws -> Int {
    guard let coded else { return try readPlain(&buffer) }
    guard isInMember else { return 0 }
    let count = try coded.read(into: &buffer)
    isInMember = count > 0
    return count
  }

  /// The next byte, which is read again afterwards; `nil` at the end.
  func peek() throws -> UInt8? {
    try isAtEnd() ? nil : buffer[unread.lowerBound]
  }

  /// Reads up to `count` bytes.
  ///
  /// - Returns: The bytes; none only at the end.
  func read(upTo count: Int64) throws -> ArraySlice<UInt8> {
    guard try !isAtEnd() else { return [] }
    let range = unread.prefix(Int(clamping: count))
    unread = unread.dropFirst(range.count)
    return buffer[range]
  }

  /// Reads bytes up to a line feed, with it.
  ///
  /// - Returns: The bytes; without a line feed at the end, or if they are `limit`.
  func line(upTo limit: Int) throws -> [UInt8] {
    var line: [UInt8] = []
    while line.count < limit, try !isAtEnd() {
      let piece = buffer[unread].prefix(limit - line.count)
      let count = piece.firstIndex(of: 0x0A).map { $0 + 1 - piece.startIndex } ?? piece.count
      line += try read(upTo: Int64(count))
      if line.last == 0x0A { break }
    }
    return line
  }

  /// Passes over bytes, if there are as many.
  func skip(_ count: Int64) throws {
    var rest = count
    while rest > 0, case let count = try read(upTo: rest).count, count > 0 { rest -= Int64(count) }
  }
}

extension WARCInput.Place: Comparable {
  static func < (lhs: Self, rhs: Self) -> Bool {
    (lhs.member, lhs.offset) < (rhs.member, rhs.offset)
  }
}
