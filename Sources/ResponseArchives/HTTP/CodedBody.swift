import Archive
import Bytes
import ResponseStorage

/// A body with the content codings that its header fields name (RFC 9110 §8.4), which are undone as it is read.
///
/// Caches and some recorders undo the codings but keep the field, so a coding is undone only if the data looks like it.
/// gzip and zstd have a signature. Data that is text is not in another coding, and other data must decode from its start.
final class CodedBody {
  private let bytes: PeekedBytes

  /// Whether a coding is undone.
  private(set) var isCoded = false

  /// Starts reading a body.
  ///
  /// - Parameters:
  ///   - codings: The names of the codings in lowercase, in the order in which they were applied.
  ///   - isOfText: Whether the media type is one of text, so that other bytes must be coded.
  ///   - limit: The maximum size of the decoded body, in bytes.
  ///   - next: Returns the next bytes of the body as stored; empty at the end.
  /// - Throws: ``HTTPBodyError`` if a coding cannot be undone, ``ContentDecodingError``, or any error from reading.
  init(
    _ codings: [ByteString], isOfText: Bool, limit: ByteCount,
    reading next: @escaping () throws -> ArraySlice<UInt8>
  ) throws {
    var bytes = PeekedBytes(reading: next)
    // A hostile field could name a thousand codings, each of which would take memory.
    guard codings.count <= Self.mostCodings else {
      throw HTTPBodyError("it has more than \(Self.mostCodings) content codings")
    }
    for name in codings.reversed() {
      guard let decoded = try Self.decoded(bytes, name, isOfText, limit) else { continue }
      bytes = decoded
      isCoded = true
    }
    self.bytes = bytes
  }

  /// The maximum number of codings; real messages have one, and by mistake two.
  private static let mostCodings = 4

  /// Calls `body` with the bytes of a body, in chunks, after undoing its codings.
  ///
  /// - Returns: Whether a coding was undone.
  /// - Throws: ``HTTPBodyError``, ``ContentDecodingError``, or any error of reading or of `body`.
  static func forEachChunk(
    _ codings: [ByteString], isOfText: Bool, limit: ByteCount,
    reading next: () throws -> ArraySlice<UInt8>, _ body: (ArraySlice<UInt8>) throws -> Void
  ) throws -> Bool {
    try withoutActuallyEscaping(next) { next in
      let coded = try CodedBody(codings, isOfText: isOfText, limit: limit, reading: next)
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while case let count = try coded.read(into: &buffer), count > 0 { try body(buffer[..<count]) }
      return coded.isCoded
    }
  }

  /// Reads the next bytes into the front of `buffer`, which must not be empty.
  ///
  /// - Returns: The number of bytes read; 0 at the end.
  /// - Throws: ``ContentDecodingError``, or any error from reading.
  func read(into buffer: inout [UInt8]) throws -> Int { try bytes.read(into: &buffer) }

  /// Returns the bytes without a coding; `nil` if they do not have it.
  private static func decoded(
    _ bytes: PeekedBytes, _ name: ByteString, _ isOfText: Bool, _ limit: ByteCount
  ) throws -> PeekedBytes? {
    switch name {
    case "gzip", "x-gzip": return try decoded(bytes, .gzip, limit)
    case "zstd": return try decoded(bytes, .zstd, limit)
    case "br", "deflate":
      if try isText(bytes) { return nil }
      let decoded =
        name == "br" ? try withoutBrotli(bytes, limit) : try withoutDeflate(bytes, limit)
      guard decoded != nil || !isOfText else {
        throw HTTPBodyError(
          "its content cannot be decoded: it is neither text nor '\(name.string ?? "")' data")
      }
      return decoded
    // A cache stores bodies without codings, so an app would get the coded bytes as they are.
    case "compress", "x-compress", "dcb", "dcz":
      if try isText(bytes) { return nil }
      throw HTTPBodyError("its content coding '\(name.string ?? "")' is not supported")
    default:
      if try isText(bytes) { return nil }
      throw HTTPBodyError("its content coding is not supported")
    }
  }

  private static func decoded(
    _ bytes: PeekedBytes, _ coding: ContentCoding, _ limit: ByteCount
  ) throws -> PeekedBytes? {
    // warcio falls back to the bytes as they are, too.
    guard ContentCoding(ofDataBeginningWith: try bytes.start(ContentCoding.longestMark)) == coding
    else { return nil }
    let members = DecodedMembers(bytes, coding, limit)
    return PeekedBytes { try members.next() }
  }

  private static func withoutBrotli(_ bytes: PeekedBytes, _ limit: ByteCount) throws -> PeekedBytes?
  {
    guard BrotliReader.isSupported else {
      throw HTTPBodyError(
        "its content coding 'br' needs the library libbrotlidec, which is not installed")
    }
    let start = try bytes.start(PeekedBytes.longestStart)
    guard BrotliReader.accepts(start, isWhole: start.count < PeekedBytes.longestStart) else {
      return nil
    }
    let reader = try BrotliReader(limit: limit.bytes) { try bytes.read(into: &$0) }
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    return PeekedBytes {
      let count = try reader.read(into: &buffer)
      return buffer[..<count]
    }
  }

  private static func withoutDeflate(
    _ bytes: PeekedBytes, _ limit: ByteCount
  ) throws -> PeekedBytes? {
    let most = DeflatedBody.largest.coded
    let data = try bytes.start(most + 1)
    guard data.count <= most else {
      throw HTTPBodyError("its content coding 'deflate' is decoded only up to \(most >> 20) MiB")
    }
    let form = DeflatedBody.isZlib(data) ? DeflatedBody.Form.zlib : .bare
    guard let decoded = try DeflatedBody.decode(data, form, limit: limit.bytes) else { return nil }
    var rest = decoded[...]
    return PeekedBytes {
      defer { rest = [] }
      return rest
    }
  }

  /// Whether bytes are text from their start on, which coded data is not. Nothing is text, too.
  private static func isText(_ bytes: PeekedBytes) throws -> Bool {
    let start = try bytes.start(PeekedBytes.longestStart)
    let text = Array(start)
    var index = 0
    while index < text.count {
      let (scalar, length) = text.scalar(at: index)
      // The end may be within a character.
      guard let scalar else {
        return start.count == PeekedBytes.longestStart && text.count - index <= 3
      }
      guard scalar.value >= 0x20 || [0x09, 0x0A, 0x0C, 0x0D, 0x1B].contains(scalar.value) else {
        return false
      }
      index += length
    }
    return true
  }
}

/// Bytes that are read piece by piece, after a look at the first ones.
private final class PeekedBytes {
  private let next: () throws -> ArraySlice<UInt8>
  private var unread: ArraySlice<UInt8> = []

  /// The number of bytes that are looked at to find out whether data is coded.
  static let longestStart = 1 << 16

  init(reading next: @escaping () throws -> ArraySlice<UInt8>) { self.next = next }

  /// Returns the first bytes; fewer than `count` only at the end.
  func start(_ count: Int) throws -> ArraySlice<UInt8> {
    while unread.count < count, case let piece = try next(), !piece.isEmpty { unread += piece }
    return unread.prefix(count)
  }

  /// Reads the next bytes into the front of `buffer`; returns 0 at the end.
  func read(into buffer: inout [UInt8]) throws -> Int {
    if unread.isEmpty {
      // An empty slice still shares its storage, which would force a copy when `next` reuses its buffer.
      unread = []
      unread = try next()
    }
    let chunk = unread.prefix(buffer.count)
    buffer.replaceSubrange(0..<chunk.count, with: chunk)
    unread = unread.dropFirst(chunk.count)
    return chunk.count
  }
}

/// The decoded members of gzip or frames of zstd, one after the other.
private final class DecodedMembers {
  private let reader: ContentReader
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)
  /// The number of complete members that were decoded, and the number of bytes from the current one.
  private var wholeMembers = 0
  private var memberBytes: Int?

  init(_ bytes: PeekedBytes, _ coding: ContentCoding, _ limit: ByteCount) {
    reader = ContentReader(coding, limit: limit.bytes) { try bytes.read(into: &$0) }
  }

  /// Returns the next bytes; empty at the end.
  func next() throws -> ArraySlice<UInt8> {
    do {
      while true {
        if let bytes = memberBytes {
          let count = try reader.read(into: &buffer)
          if count > 0 {
            memberBytes = bytes + count
            return buffer[..<count]
          }
          memberBytes = nil
          wholeMembers += 1
        }
        guard try reader.nextMember() else { return [] }
        memberBytes = 0
      }
    } catch let error as ContentDecodingError where error.kind != .tooLarge {
      // Garbage after a complete member is ignored, as other decoders do.
      if wholeMembers > 0, memberBytes ?? 0 == 0 { return [] }
      throw error
    }
  }
}
