/// A decoder of a content coding that returns data on demand, member by member.
///
/// A member is a gzip member, or all frames of zstd. The memory it needs does not depend on the length of the data.
public final class ContentReader {
  private let coding: ContentCoding
  private let limit: Int64
  private let input: CodedInput
  /// Decodes a member that does not fit into memory, or is damaged, and zstd.
  private var run: DecodingRun?
  private var decompressor: GzipDecompressor?
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
  public convenience init(
    _ coding: ContentCoding, limit: Int64, reading read: @escaping (inout [UInt8]) throws -> Int
  ) {
    self.init(coding, limit: limit) { buffer, _ in try read(&buffer) }
  }

  /// Creates a reader of data with random access.
  ///
  /// - Parameters:
  ///   - limit: The most bytes to decode; more are an error.
  ///   - read: Fills the start of an array with bytes from an offset of the data, and returns their number; 0 at the end.
  public init(
    _ coding: ContentCoding, limit: Int64,
    readingAt read: @escaping (_ buffer: inout [UInt8], _ offset: Int64) throws -> Int
  ) {
    self.coding = coding
    self.limit = limit
    room = limit
    input = CodedInput(coding, reading: read)
  }

  /// The number of coded bytes that were decoded; more may have been read.
  public var decodedEnd: Int64 { run == nil ? memberEnd : input.next }

  /// Moves to another member, which ``nextMember()`` then opens. The data must have random access.
  ///
  /// - Parameter start: The offset of the member in the coded data.
  public func move(toMemberAt start: Int64) {
    run = nil
    memberEnd = start
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
    if coding == .gzip, let size = decodeInMemory() {
      memberEnd = memberStart + Int64(size)
      return true
    }
    (checksum, length) = (CRC32(), 0)
    // libarchive knows only that reading failed. The error that the closure threw says why.
    do { run = try DecodingRun(coding, of: input, from: memberStart) } catch {
      throw input.failure ?? error
    }
    return true
  }

  // Most gzip members are small, so all of their coded data is usually read already. An attempt without the end of the
  // member is in vain, so the second one is made with all data that a member in memory can have.
  private static let attempts = [1 << 18, GzipDecompressor.largestMember]

  /// Decodes the member at `memberStart` in memory.
  ///
  /// - Returns: The number of coded bytes; `nil` if the member does not fit into memory, or is damaged, which the other
  ///   decoder finds out and describes.
  private func decodeInMemory() -> Int? {
    decompressor = decompressor ?? GzipDecompressor()
    guard let decompressor else { return nil }
    for size in Self.attempts {
      let bytes = input.window(from: memberStart, atLeast: size)
      switch decompressor.decode(bytes) {
      case .decoded(let count): return count
      case .tooLong: return nil
      case .incomplete where bytes.count < size: return nil
      case .incomplete: continue
      }
    }
    return nil
  }

  /// Reads the next bytes of the member into the start of `buffer`. They are verified only at the end of the
  /// member, with its checksum.
  ///
  /// - Returns: The number of bytes; 0 at the end of the member.
  /// - Throws: ``ContentDecodingError``, or any error of the reader's closure.
  public func read(into buffer: inout [UInt8]) throws -> Int {
    let count: Int
    let isRun = run != nil
    do {
      count = try run?.read(into: &buffer) ?? decompressor?.read(into: &buffer) ?? 0
    } catch { throw input.failure ?? error }
    guard count > 0 else {
      try endMember()
      return 0
    }
    room -= Int64(count)
    guard room >= 0 else { throw ContentDecodingError.tooLarge(limit) }
    if !isRun { return count }
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

/// A content coding (RFC 9110, section 8.4.1) that can be detected from the first bytes of data.
///
/// Brotli cannot, as its data has no signature.
public enum ContentCoding: String, Hashable, Sendable, CaseIterable {
  /// RFC 1952: one or more members, each with a checksum.
  case gzip
  /// RFC 8878: one or more frames, each with an optional checksum.
  case zstd

  /// The most bytes that ``init(ofDataBeginningWith:)`` needs.
  public static let longestMark = 4

  /// Detects the coding from the first bytes; `nil` if it is neither.
  public init?(ofDataBeginningWith start: ArraySlice<UInt8>) {
    guard let coding = Self.allCases.first(where: { start.starts(with: $0.mark) }) else {
      return nil
    }
    self = coding
  }

  /// The signature at the start of the data.
  private var mark: [UInt8] {
    switch self {
    case .gzip: [0x1F, 0x8B]
    case .zstd: [0x28, 0xB5, 0x2F, 0xFD]
    }
  }
}

/// A decoder of a content coding that works in chunks.
///
/// The memory it needs does not depend on the length of the data: for gzip at most a few megabytes, for zstd up
/// to 128 MiB, if the data requires such a large window.
public struct ContentDecoder: Sendable {
  /// The coding.
  public let coding: ContentCoding

  /// The most bytes to decode; more are an error.
  // A run of one byte costs zstd four bytes per 128 KiB (RFC 8878 §3.1.1.2), so a small hostile
  // body could decode to more than 30,000 times its size.
  public let limit: Int64

  /// Creates a decoder.
  public init(_ coding: ContentCoding, limit: Int64) {
    self.coding = coding
    self.limit = limit
  }

  /// Decodes data: all members or frames, one after the other.
  ///
  /// - Parameters:
  ///   - read: Fills the start of an array with the next bytes of the data, and returns their number; 0
  ///     at the end.
  ///   - body: Processes the next decoded bytes. They are not verified yet, as the checksum comes after
  ///     them.
  /// - Throws: ``ContentDecodingError``, or any error of `read` or `body`.
  public func decode(
    _ read: (inout [UInt8]) throws -> Int, _ body: (ArraySlice<UInt8>) throws -> Void
  ) throws {
    try withoutActuallyEscaping(read) { read in
      let reader = ContentReader(coding, limit: limit, reading: read)
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while try reader.nextMember() {
        while case let count = try reader.read(into: &buffer), count > 0 {
          try body(buffer[..<count])
        }
      }
    }
  }
}

/// An error of decoding coded data.
public struct ContentDecodingError: Error, Hashable, Sendable {
  /// The kinds of failure.
  public enum Kind: Hashable, Sendable {
    /// The data is truncated.
    case endsTooEarly
    /// The data is not valid in its coding.
    case broken
    /// The decoded data does not match the checksum or the length in the coded data.
    case wrongChecksum
    /// There is more decoded data than allowed.
    case tooLarge
    /// The libarchive of this system does not support the coding.
    case notSupported
    /// libarchive could not allocate a handle.
    case outOfMemory
  }

  /// The kind of failure.
  public let kind: Kind

  /// What happened, with the offset in the data: a clause without bytes of the data.
  public let description: String

  static func endsTooEarly(_ offset: Int64) -> Self {
    Self(kind: .endsTooEarly, description: "it ends unexpectedly at byte \(offset)")
  }

  static func broken(from offset: Int64, because reason: String?) -> Self {
    let place = "decoding failed at byte \(offset)"
    return Self(kind: .broken, description: reason.map { "\(place): \($0)" } ?? place)
  }

  static func notBeginning(_ coding: ContentCoding, _ offset: Int64) -> Self {
    Self(
      kind: .broken, description: "there is no complete \(coding.rawValue) header at byte \(offset)"
    )
  }

  static func wrongChecksum(ofMemberAt offset: Int64) -> Self {
    Self(
      kind: .wrongChecksum,
      description: "the checksum of the member at byte \(offset) does not match")
  }

  static func tooLarge(_ limit: Int64) -> Self {
    Self(kind: .tooLarge, description: "its decoded size exceeds \(limit) bytes")
  }

  static let outOfMemory = Self(kind: .outOfMemory, description: "out of memory")

  static func notSupported(_ coding: ContentCoding) -> Self {
    Self(
      kind: .notSupported,
      description: "this system's libarchive does not support \(coding.rawValue)")
  }
}

extension ContentDecodingError: CustomStringConvertible {}
