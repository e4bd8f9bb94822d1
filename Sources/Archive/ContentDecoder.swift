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
