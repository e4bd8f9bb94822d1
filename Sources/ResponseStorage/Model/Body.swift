public import Bytes
import Files

/// The body of a response, or the value of another large column.
///
/// A short body is in memory. Any other body stays in its store, and each ``makeReader()`` reads it again, so that
/// its size does not determine how much memory is used.
public struct Body {
  private enum Source {
    case memory([UInt8])
    case stored(open: () throws -> BodyReader)
  }

  private static let changed = StoreError(
    .changedWhileReading, at: nil, because: "the length of a body changed")

  private let source: Source

  /// The number of bytes.
  public let size: ByteCount

  /// The SHA-256 digest of all bytes, in lower-case hexadecimal digits, if it is known before reading.
  public var sha256: String?

  /// Whether the bytes can be read only once, so that a caller that needs them twice must keep them.
  public let isReadOnce: Bool

  /// Whether it is a file that is far longer than the data written to it.
  public let isSparse: Bool

  /// Whether all bytes were read and verified when its archive was opened, so that reading them again finds no damage.
  public var isVerified = false

  /// Whether a held signal ends reading with an error.
  public var endsOnSignals = false

  /// Creates a body in memory.
  public init(_ bytes: [UInt8]) {
    size = ByteCount(bytes.count)
    isReadOnce = false
    isSparse = false
    source = .memory(bytes)
  }

  /// Creates a body that stays in its store.
  ///
  /// - Parameters:
  ///   - size: The number of bytes.
  ///   - sha256: The digest of all bytes, if it is known.
  ///   - isReadOnce: Whether `open` can be called only once.
  ///   - isSparse: Whether the file has almost no data.
  ///   - open: Returns a reader that starts at the first byte.
  public init(
    size: ByteCount, sha256: String? = nil, isReadOnce: Bool = false, isSparse: Bool = false,
    opening open: @escaping () throws -> BodyReader
  ) {
    self.size = size
    self.sha256 = sha256
    self.isReadOnce = isReadOnce
    self.isSparse = isSparse
    source = .stored(open: open)
  }

  /// All bytes, if they are in memory.
  public var bytes: [UInt8]? {
    switch source {
    case .memory(let bytes): bytes
    case .stored: nil
    }
  }

  /// Returns a reader that starts at the first byte.
  ///
  /// - Throws: Any error of opening the body, such as ``StoreError``.
  public func makeReader() throws -> BodyReader {
    var reader =
      switch source {
      case .memory(let bytes): BodyReader(bytes)
      case .stored(let open): try open()
      }
    reader.endsOnSignals = endsOnSignals
    return reader
  }

  /// Calls `body` with all bytes in order, in chunks.
  ///
  /// - Throws: ``StoreError`` if there are more or fewer bytes than ``size``, or any error of reading or of
  ///   `body`.
  public func forEachChunk(_ body: (ArraySlice<UInt8>) throws -> Void) throws {
    if let bytes { return try body(bytes[...]) }
    var count: ByteCount = 0
    var reader = try makeReader()
    try reader.forEachChunk { chunk in
      // Archives write the size before the bytes, so a body with another length would damage the
      // archive. The chunk is passed on before all lengths are known, and the caller discards what
      // it has written if this throws.
      count += ByteCount(chunk.count)
      try body(chunk)
    }
    guard count == size else { throw Self.changed }
  }

  /// Reads all bytes. The body must be known to fit into memory.
  ///
  /// - Throws: ``StoreError`` if there are more or fewer bytes than ``size``, or any error of reading.
  public func readAll() throws -> [UInt8] {
    if let bytes { return bytes }
    var reader = try makeReader()
    // The caller has judged by `size` that the bytes fit. A file that has grown since must not decide how much memory
    // is taken.
    guard reader.size == size else { throw Self.changed }
    return try reader.readAll()
  }
}

/// The body of a response that is being processed.
public struct ScannedBody {
  private let reading: ((inout BodyReader) throws -> Void) throws -> Bool

  /// Creates a body.
  ///
  /// - Parameter reading: Passes the body to its argument; returns `false` if there is no body.
  public init(reading: @escaping ((inout BodyReader) throws -> Void) throws -> Bool) {
    self.reading = reading
  }

  /// Creates the body of a response in the form of its store.
  public init(of raw: RawResponse) {
    self.init { read in
      guard var reader = try raw.part(.body)?.content?.makeReader() else { return false }
      try read(&reader)
      return true
    }
  }

  /// Passes the body to `read`, which reads it in chunks.
  ///
  /// - Returns: Whether there is a body.
  /// - Throws: ``StoreError`` if the store cannot be read, or any error of `read`.
  public func read(_ read: (inout BodyReader) throws -> Void) throws -> Bool { try reading(read) }
}

extension ResponseSource {
  /// Returns the body of a response of this source.
  public func body(of response: borrowing StoredResponse) -> ScannedBody {
    let response = copy response
    return ScannedBody { read in
      if response.decoded.contains(.body), response.bodyLocation == .missing { return false }
      var wasOpened = false
      do {
        try withBody(of: response) { reader in
          wasOpened = true
          try read(&reader)
        }
      } catch let error as StoreError
        where !wasOpened && (error.code == .noSuchResponse || error.code == .damaged)
      {
        // Only these two mean that there is no body.
        return false
      }
      return true
    }
  }
}

/// A digest of everything that a store keeps of an entry except its id, which shows without decoding that two entries
/// are equal.
public struct ContentDigest: Hashable, Comparable, Sendable {
  // The first 128 bits of SHA-256: there may be millions of digests.

  /// The first 64 bits.
  public let high: UInt64
  /// The other 64 bits.
  public let low: UInt64

  /// Creates a digest from its two halves.
  public init(high: UInt64, low: UInt64) {
    (self.high, self.low) = (high, low)
  }

  /// Creates the digest of bytes.
  init(of bytes: [UInt8]) {
    var digest = Digest()
    digest.update(bytes[...])
    var (high, low): (UInt64, UInt64) = (0, 0)
    for (index, byte) in digest.bytes.prefix(16).enumerated() {
      if index < 8 { high = high << 8 | UInt64(byte) } else { low = low << 8 | UInt64(byte) }
    }
    self.init(high: high, low: low)
  }

  public static func < (first: Self, second: Self) -> Bool {
    first.high == second.high ? first.low < second.low : first.high < second.high
  }
}

/// An entry with its digest.
public struct DigestedEntry: Sendable {
  /// The number of the entry.
  public let id: Int64
  /// The digest; `nil` if only the decoded entry can be compared.
  public let digest: ContentDigest?
}
