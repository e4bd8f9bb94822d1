/// Undoes a content coding, piece by piece.
///
/// What is in memory does not grow with the data: for gzip it is a few megabytes at most, for zstd up to
/// 128 MiB, if the data asks for so large a window.
public struct ContentDecoder: Sendable {
  /// The coding.
  public let coding: ContentCoding

  /// The most bytes that may come out.
  public let limit: Int64

  /// Creates a decoder.
  public init(_ coding: ContentCoding, limit: Int64) {
    self.coding = coding
    self.limit = limit
  }

  /// Decodes data: all members or frames, one after the other.
  ///
  /// - Parameters:
  ///   - read: Fills the front of an array with the next bytes of the data, and returns their number; 0
  ///     at the end.
  ///   - body: What to do with the next decoded bytes. They are not yet compared with the
  ///     checksum, which comes after them.
  /// - Throws: ``ContentDecodingError``, or whatever `read` or `body` throws.
  public func decode(
    _ read: (inout [UInt8]) throws -> Int, _ body: (ArraySlice<UInt8>) throws -> Void
  ) throws {
    try withoutActuallyEscaping(read) { read in
      let input = CodedInput(coding, reading: read)
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      var (place, room) = (0 as Int64, limit)
      while try input.begin(at: place) {
        place = try decodeRun(from: place, of: input, &buffer, &room, body)
      }
    }
  }

  /// Decodes one member of gzip, or all frames of zstd.
  ///
  /// - Returns: Where it ends.
  private func decodeRun(
    from start: Int64, of input: CodedInput, _ buffer: inout [UInt8], _ room: inout Int64,
    _ body: (ArraySlice<UInt8>) throws -> Void
  ) throws -> Int64 {
    var (checksum, length) = (CRC32(), 0 as UInt32)
    let end: Int64
    do {
      var run = try DecodingRun(coding, of: input, from: start)
      while case let count = try run.read(into: &buffer), count > 0 {
        room -= Int64(count)
        guard room >= 0 else { throw ContentDecodingError.tooLarge(limit) }
        if coding == .gzip { checksum.append(buffer[..<count]) }
        length &+= UInt32(count)
        try body(buffer[..<count])
      }
      end = run.place
    } catch {
      throw input.failure ?? error
    }
    // libarchive takes a header that could not be read for the end.
    if let failure = input.failure { throw failure }
    guard end > start else { throw ContentDecodingError.notBeginning(coding, start) }
    guard end <= input.end else { throw ContentDecodingError.endsTooEarly(input.end) }
    if coding == .gzip, input.trailer(endingAt: end) != (checksum.value, length) {
      throw ContentDecodingError.wrongChecksum(ofMemberAt: start)
    }
    return end
  }
}
