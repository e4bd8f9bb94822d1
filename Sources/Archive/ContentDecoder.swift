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
