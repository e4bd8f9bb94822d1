import Archive
import Bytes
import ResponseStorage

/// Reads the body of a message and undoes its transfer and content codings.
///
/// Data that does not begin like its content coding is passed on unchanged: some archivers undo the coding but keep
/// the `Content-Encoding` field.
final class HTTPBodyReader {
  private var next: () throws -> ArraySlice<UInt8>
  private var unread: ArraySlice<UInt8> = []
  private var decoder: ContentReader?

  /// The number of complete members that were decoded, and the number of bytes from the current one.
  private var wholeMembers = 0
  private var memberBytes: Int?

  /// Starts reading a body.
  ///
  /// - Parameters:
  ///   - headers: The header fields of the message.
  ///   - limit: The maximum size of the decoded body, in bytes.
  ///   - observe: Receives the bytes after undoing the transfer coding.
  ///   - next: Returns the next bytes of the body as sent; empty at the end.
  /// - Throws: ``HTTPBodyError``, or any error from reading.
  init(
    _ headers: HeaderFields, limit: ByteCount,
    observing observe: @escaping (ArraySlice<UInt8>) -> Void = { _ in },
    reading next: @escaping () throws -> ArraySlice<UInt8>
  ) throws {
    var next = next
    if headers.codings(named: "transfer-encoding").contains("chunked") {
      let chunked = ChunkedReader(reading: next)
      next = { try chunked.next() }
    }
    let transferred = next
    self.next = {
      let piece = try transferred()
      observe(piece)
      return piece
    }
    try beginDecoding(headers.codings(named: "content-encoding"), limit)
  }

  /// Whether a message with these header fields may have a transfer or content coding that a reader undoes.
  static func isCoded(_ headers: HeaderFields) -> Bool {
    headers.codings(named: "transfer-encoding").contains("chunked")
      || !headers.codings(named: "content-encoding").isEmpty
  }

  private func beginDecoding(_ codings: [ByteString], _ limit: ByteCount) throws {
    guard let name = codings.last else { return }
    while unread.count < ContentCoding.longestMark, case let piece = try next(), !piece.isEmpty {
      unread += piece
    }
    if unread.isEmpty { return }
    let coding: ContentCoding
    switch name {
    case "gzip" where codings.count == 1, "x-gzip" where codings.count == 1: coding = .gzip
    case "zstd" where codings.count == 1: coding = .zstd
    // libarchive decodes gzip and zstd here. Brotli and `deflate` would need libraries of their
    // own. A cache stores bodies without codings, so an app would get the coded bytes as they are.
    case "br", "deflate", "compress", "zstd", "gzip":
      throw HTTPBodyError("its content coding '\(name.string ?? "")' is not supported")
    default: throw HTTPBodyError("its content coding is not supported")
    }
    // warcio falls back to the bytes as they are, too.
    guard ContentCoding(ofDataBeginningWith: unread) == coding else { return }
    decoder = ContentReader(coding, limit: limit.bytes) { [unowned self] in
      try readTransferred(into: &$0)
    }
  }

  /// Reads the next bytes without undoing the content coding.
  private func readTransferred(into buffer: inout [UInt8]) throws -> Int {
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

  /// Reads the next bytes into the front of `buffer`, which must not be empty.
  ///
  /// - Returns: The number of bytes read; 0 at the end.
  /// - Throws: ``HTTPBodyError``, or any error from reading.
  func read(into buffer: inout [UInt8]) throws -> Int {
    guard let decoder else { return try readTransferred(into: &buffer) }
    do {
      while true {
        if let bytes = memberBytes {
          let count = try decoder.read(into: &buffer)
          if count > 0 {
            memberBytes = bytes + count
            return count
          }
          memberBytes = nil
          wholeMembers += 1
        }
        guard try decoder.nextMember() else { return 0 }
        memberBytes = 0
      }
    } catch let error as ContentDecodingError where error.kind != .tooLarge {
      // Garbage after a complete member is ignored, as other decoders do.
      if wholeMembers > 0, memberBytes ?? 0 == 0 { return 0 }
      throw HTTPBodyError("its content cannot be decoded: \(error)")
    }
  }
}

extension HeaderFields {
  /// Returns the codings in a list-valued field, in lowercase, without those that change nothing.
  fileprivate func codings(named name: ByteString) -> [ByteString] {
    fields.filter { $0.name.asciiLowercased == name }
      .flatMap { $0.value.bytes.split(separator: UInt8(ascii: ",")) }
      .map { ByteString($0.trimmingBlanks.map(\.asciiLowercased)) }
      .filter { !["", "identity", "none"].contains($0) }
  }
}
