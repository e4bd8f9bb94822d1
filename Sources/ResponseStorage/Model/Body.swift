public import Bytes

/// The body of a response, or the value of another column that holds many bytes.
///
/// A short body is in memory. Any other one stays where it is stored, and each ``makeReader()`` begins another
/// reading of it, so that its size does not decide how much memory is used.
public struct Body {
  private enum Source {
    case memory([UInt8])
    case stored(open: () throws -> BodyReader)
  }

  private let source: Source

  /// The number of bytes.
  public let size: ByteCount

  /// The SHA-256 digest of all bytes, in small hexadecimal digits, if it is known before they are read.
  public var sha256: String?

  /// Whether the bytes can be read only once, so that whoever needs them twice must keep them.
  public let isReadOnce: Bool

  /// Whether it is a file that claims to be far longer than what was written to it.
  public let isSparse: Bool

  /// Whether a signal that is held back ends a reading by an error.
  public var endsOnSignals = false

  /// Creates a body in memory.
  public init(_ bytes: [UInt8]) {
    size = ByteCount(bytes.count)
    isReadOnce = false
    isSparse = false
    source = .memory(bytes)
  }

  /// Creates a body that stays where it is stored.
  ///
  /// - Parameters:
  ///   - size: The number of bytes.
  ///   - sha256: The digest of all bytes, if it is known.
  ///   - isReadOnce: Whether `open` can be called only once.
  ///   - isSparse: Whether hardly anything was written to the file.
  ///   - open: Begins a reading at the first byte.
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

  /// Begins a reading at the first byte.
  ///
  /// - Throws: What opening the body throws, such as ``StoreError``.
  public func makeReader() throws -> BodyReader {
    var reader =
      switch source {
      case .memory(let bytes): BodyReader(bytes)
      case .stored(let open): try open()
      }
    reader.endsOnSignals = endsOnSignals
    return reader
  }

  /// Calls `body` with all bytes in their order, one chunk after the other.
  ///
  /// - Throws: ``StoreError`` if there are more or fewer bytes than ``size``, what reading throws, or what `body`
  ///   throws.
  public func forEachChunk(_ body: (ArraySlice<UInt8>) throws -> Void) throws {
    if let bytes { return try body(bytes[...]) }
    var count: ByteCount = 0
    var reader = try makeReader()
    try reader.forEachChunk { chunk in
      count += ByteCount(chunk.count)
      try body(chunk)
    }
    guard count == size else {
      throw StoreError(.changedWhileReading, at: "body", because: "its length is another now")
    }
  }

  /// Reads all bytes, of a body that is known to fit into memory.
  ///
  /// - Throws: ``StoreError`` if there are more or fewer bytes than ``size``, or what reading throws.
  public func readAll() throws -> [UInt8] {
    if let bytes { return bytes }
    var reader = try makeReader()
    return try reader.readAll()
  }
}
