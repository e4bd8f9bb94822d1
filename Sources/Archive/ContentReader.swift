/// Undoes a content coding, member by member, as somebody asks for what comes out.
///
/// A member is one of gzip, or all frames of zstd. What is in memory does not grow with the data.
public final class ContentReader {
  private let coding: ContentCoding
  private let limit: Int64
  private let input: CodedInput
  private var run: DecodingRun?
  private var room: Int64
  private var checksum = CRC32()
  private var length: UInt32 = 0
  private var memberEnd: Int64 = 0

  /// Where the member begins that is read, in bytes of the data.
  public private(set) var memberStart: Int64 = 0

  /// Creates a reader.
  ///
  /// - Parameters:
  ///   - limit: The most bytes that may come out.
  ///   - read: Fills the front of an array with the next bytes of the data, and returns their number; 0
  ///     at the end.
  public init(
    _ coding: ContentCoding, limit: Int64, reading read: @escaping (inout [UInt8]) throws -> Int
  ) {
    self.coding = coding
    self.limit = limit
    room = limit
    input = CodedInput(coding, reading: read)
  }

  /// Moves to the next member, once the last is read to its end.
  ///
  /// - Returns: Whether there is one.
  /// - Throws: ``ContentDecodingError``, or whatever the closure of the reader throws.
  public func nextMember() throws -> Bool {
    // A mistake of the caller's, whatever the data: nobody asks before `read` has returned 0.
    precondition(run == nil, "the last member is not read to its end")
    guard try input.begin(at: memberEnd) else { return false }
    memberStart = memberEnd
    (checksum, length) = (CRC32(), 0)
    do { run = try DecodingRun(coding, of: input, from: memberStart) } catch {
      throw input.failure ?? error
    }
    return true
  }

  /// Reads on in the member, into the front of `buffer`. Only its end says that the bytes match its
  /// checksum.
  ///
  /// - Returns: The number of bytes; 0 at the end of the member.
  /// - Throws: ``ContentDecodingError``, or whatever the closure of the reader throws.
  public func read(into buffer: inout [UInt8]) throws -> Int {
    let count: Int
    do { count = try run?.read(into: &buffer) ?? 0 } catch { throw input.failure ?? error }
    guard count > 0 else {
      try endMember()
      return 0
    }
    room -= Int64(count)
    guard room >= 0 else { throw ContentDecodingError.tooLarge(limit) }
    if coding == .gzip { checksum.append(buffer[..<count]) }
    length &+= UInt32(count)
    return count
  }

  private func endMember() throws {
    guard let end = run?.place else { return }
    run = nil
    // libarchive takes a header that could not be read for the end.
    if let failure = input.failure { throw failure }
    guard end > memberStart else { throw ContentDecodingError.notBeginning(coding, memberStart) }
    guard end <= input.end else { throw ContentDecodingError.endsTooEarly(input.end) }
    if coding == .gzip, input.trailer(endingAt: end) != (checksum.value, length) {
      throw ContentDecodingError.wrongChecksum(ofMemberAt: memberStart)
    }
    memberEnd = end
  }
}
