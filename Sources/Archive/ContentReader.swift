/// A decoder of a content coding that returns data on demand, member by member.
///
/// A member is a gzip member, or all frames of zstd. The memory it needs does not depend on the length of the data.
public final class ContentReader {
  private let coding: ContentCoding
  private let limit: Int64
  private let input: CodedInput
  private var run: DecodingRun?
  private var room: Int64
  private var checksum = CRC32()
  private var length: UInt32 = 0
  private var memberEnd: Int64 = 0

  /// The offset of the current member in the coded data.
  public private(set) var memberStart: Int64 = 0

  /// Creates a reader.
  ///
  /// - Parameters:
  ///   - limit: The most bytes to decode; more are an error.
  ///   - read: Fills the start of an array with the next bytes of the data, and returns their number; 0
  ///     at the end.
  public init(
    _ coding: ContentCoding, limit: Int64, reading read: @escaping (inout [UInt8]) throws -> Int
  ) {
    self.coding = coding
    self.limit = limit
    room = limit
    input = CodedInput(coding, reading: read)
  }

  /// Moves to the next member. The last one must have been read to its end.
  ///
  /// - Returns: Whether there is a next member.
  /// - Throws: ``ContentDecodingError``, or any error of the reader's closure.
  public func nextMember() throws -> Bool {
    // No data can cause this, only a caller that did not read until `read` returned 0.
    precondition(run == nil, "the last member is not read to its end")
    guard try input.begin(at: memberEnd) else { return false }
    memberStart = memberEnd
    (checksum, length) = (CRC32(), 0)
    // libarchive knows only that reading failed. The error that the closure threw says why.
    do { run = try DecodingRun(coding, of: input, from: memberStart) } catch {
      throw input.failure ?? error
    }
    return true
  }

  /// Reads the next bytes of the member into the start of `buffer`. They are verified only at the end of the
  /// member, with its checksum.
  ///
  /// - Returns: The number of bytes; 0 at the end of the member.
  /// - Throws: ``ContentDecodingError``, or any error of the reader's closure.
  public func read(into buffer: inout [UInt8]) throws -> Int {
    let count: Int
    do { count = try run?.read(into: &buffer) ?? 0 } catch { throw input.failure ?? error }
    guard count > 0 else {
      try endMember()
      return 0
    }
    room -= Int64(count)
    guard room >= 0 else { throw ContentDecodingError.tooLarge(limit) }
    // libzstd compares the checksum of a frame itself, if there is one. That of gzip is compared by
    // nobody else.
    if coding == .gzip { checksum.append(buffer[..<count]) }
    length &+= UInt32(count)
    return count
  }

  private func endMember() throws {
    guard let end = run?.place else { return }
    run = nil
    // libarchive reports a header that could not be read as the end.
    if let failure = input.failure { throw failure }
    guard end > memberStart else { throw ContentDecodingError.notBeginning(coding, memberStart) }
    // Beyond the end, libarchive has used the trailer that `CodedInput` made up.
    guard end <= input.end else { throw ContentDecodingError.endsTooEarly(input.end) }
    if coding == .gzip, input.trailer(endingAt: end) != (checksum.value, length) {
      throw ContentDecodingError.wrongChecksum(ofMemberAt: memberStart)
    }
    memberEnd = end
  }
}
