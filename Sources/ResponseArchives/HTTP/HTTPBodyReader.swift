import Archive
import Bytes
import ResponseStorage

/// Reads the body of a message without its transfer coding and its content coding.
///
/// Data that does not begin as its content coding does is passed on as it is: some writers undo the coding,
/// and leave the field that names it.
final class HTTPBodyReader {
  private var next: () throws -> ArraySlice<UInt8>
  private var unread: ArraySlice<UInt8> = []
  private var decoder: ContentReader?

  /// The number of members that were decoded whole, and the number of bytes of the one after them.
  private var wholeMembers = 0
  private var memberBytes: Int?

  /// Begins to read a body.
  ///
  /// - Parameters:
  ///   - headers: The header fields of the message.
  ///   - limit: The most bytes that may come out of a content coding.
  ///   - observe: Gets the bytes without the transfer coding.
  ///   - next: Returns the next bytes of the body as it was sent; none at the end.
  /// - Throws: ``HTTPBodyError``, or what reading throws.
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
    case "br", "deflate", "compress", "zstd", "gzip":
      throw HTTPBodyError("its content coding '\(name.string ?? "")' is not known here")
    default: throw HTTPBodyError("its content coding is not known")
    }
    guard ContentCoding(ofDataBeginningWith: unread) == coding else { return }
    decoder = ContentReader(coding, limit: limit.bytes) { [unowned self] in
      try readTransferred(into: &$0)
    }
  }

  /// Reads on without undoing the content coding.
  private func readTransferred(into buffer: inout [UInt8]) throws -> Int {
    if unread.isEmpty {
      // An empty slice still shares the memory that the next bytes are written to.
      unread = []
      unread = try next()
    }
    let chunk = unread.prefix(buffer.count)
    buffer.replaceSubrange(0..<chunk.count, with: chunk)
    unread = unread.dropFirst(chunk.count)
    return chunk.count
  }

  /// Reads on, into the front of `buffer`, which must not be empty.
  ///
  /// - Returns: The number of bytes read; 0 at the end.
  /// - Throws: ``HTTPBodyError``, or what reading throws.
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
      // What follows the end of a member, and is none, is passed over as everybody does.
      if wholeMembers > 0, memberBytes ?? 0 == 0 { return 0 }
      throw HTTPBodyError("its content coding is broken: \(error)")
    }
  }
}

extension HeaderFields {
  /// The codings of a field that lists them, in small letters, without those that do nothing.
  fileprivate func codings(named name: ByteString) -> [ByteString] {
    fields.filter { $0.name.asciiLowercased == name }
      .flatMap { $0.value.bytes.split(separator: UInt8(ascii: ",")) }
      .map { ByteString($0.trimmingBlanks.map(\.asciiLowercased)) }
      .filter { !["", "identity", "none"].contains($0) }
  }
}
