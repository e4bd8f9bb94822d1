import Archive
import Bytes
import ResponseStorage

/// Reads the body of a message and undoes its transfer and content codings.
///
/// Data that does not begin like its content coding is passed on unchanged: some archivers undo the coding but keep
/// the `Content-Encoding` field.
final class HTTPBodyReader {
  private let body: CodedBody

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
    body = try CodedBody(
      headers.codings(named: "content-encoding"), isOfText: headers.isOfText, limit: limit
    ) {
      let piece = try transferred()
      observe(piece)
      return piece
    }
  }

  /// Whether a message with these header fields may have a transfer or content coding that a reader undoes.
  static func isCoded(_ headers: HeaderFields) -> Bool {
    headers.codings(named: "transfer-encoding").contains("chunked")
      || !headers.codings(named: "content-encoding").isEmpty
  }

  /// Reads the next bytes into the front of `buffer`, which must not be empty.
  ///
  /// - Returns: The number of bytes read; 0 at the end.
  /// - Throws: ``HTTPBodyError``, or any error from reading.
  func read(into buffer: inout [UInt8]) throws -> Int {
    do { return try body.read(into: &buffer) } catch let error as ContentDecodingError
      where error.kind != .tooLarge
    {
      throw HTTPBodyError("its content cannot be decoded: \(error)")
    }
  }
}

extension HeaderFields {
  /// Whether the media type is one of text.
  var isOfText: Bool {
    guard let type = mediaType?.bytes else { return false }
    return type.starts(with: "text/".utf8)
      || ["json", "javascript", "xml"].contains {
        type.reversed().starts(with: $0.utf8.reversed())
      }
  }

  /// Returns the codings in a list-valued field, in lowercase, without those that change nothing.
  func codings(named name: ByteString) -> [ByteString] {
    fields.filter { $0.name.asciiLowercased == name }
      .flatMap { $0.value.bytes.split(separator: UInt8(ascii: ",")) }
      .map { ByteString($0.trimmingBlanks.map(\.asciiLowercased)) }
      // Servers also write the charset there, which browsers ignore.
      .filter { !["", "identity", "none", "utf-8", "utf8"].contains($0) }
  }
}

/// Undoes the chunked transfer coding (RFC 9112 §7.1).
///
/// Data that does not begin with a chunk is passed on unchanged: some archivers undo the coding but keep the
/// `Transfer-Encoding` field.
final class ChunkedReader {
  private let nextOfData: () throws -> ArraySlice<UInt8>
  private var unread: ArraySlice<UInt8> = []
  private var left: Int64 = 0
  private var state = State.beginning

  private enum State {
    case beginning, inChunks, plain, ended
  }

  /// The maximum length of a chunk header line, in bytes.
  private static let longestLine = 1 << 12

  /// - Parameter next: Returns the next bytes; empty at the end.
  init(reading next: @escaping () throws -> ArraySlice<UInt8>) {
    nextOfData = next
  }

  /// Reads the next bytes.
  ///
  /// - Returns: The bytes; empty at the end.
  /// - Throws: ``HTTPBodyError``, or any error from reading.
  func next() throws -> ArraySlice<UInt8> {
    if state == .beginning || state == .inChunks, left == 0 { try beginChunk() }
    switch state {
    case .ended: return []
    case .plain:
      defer { unread = [] }
      return unread.isEmpty ? try nextOfData() : unread
    case .beginning, .inChunks:
      // A connection that breaks amid a chunk is the normal end of a cut-off download (RFC 9112
      // §8), so the body counts as incomplete and not as broken.
      guard try !isAtEnd() else {
        throw HTTPBodyError("it ends in the middle of a chunk", isPart: true)
      }
      let content = unread.prefix(Int(clamping: left))
      unread = unread.dropFirst(content.count)
      left -= Int64(content.count)
      if left == 0 { try endChunk() }
      return content
    }
  }

  private func beginChunk() throws {
    let line = try line()
    guard let size = Self.size(line) else {
      // Only the very first line can show that an archiver has removed the chunks. Later, bytes
      // would be lost or invented.
      guard state == .beginning else { throw HTTPBodyError("its chunks are malformed") }
      unread = line + unread
      state = .plain
      return
    }
    (state, left) = (size == 0 ? .ended : .inChunks, size)
  }

  private func endChunk() throws {
    guard try line().allSatisfy({ $0 == 0x0D || $0 == 0x0A }) else {
      throw HTTPBodyError("its chunks are malformed")
    }
  }

  /// Returns the chunk size in a header line; `nil` if the line has none.
  private static func size(_ line: ArraySlice<UInt8>) -> Int64? {
    let digits = line.prefix { Base16.value(of: $0) != nil }
    // A chunk extension may follow a semicolon. Some servers pad the size with white space.
    let rest = line.dropFirst(digits.count).drop { $0 == 0x20 || $0 == 0x09 }
    guard line.last == 0x0A, let first = rest.first, first == 0x3B || first == 0x0D || first == 0x0A
    else { return nil }
    // A chunk may claim any size. `nil` for numbers that do not fit keeps a hostile one from
    // wrapping around to a small or negative size (RFC 9112 §7.1).
    return Int64(String(decoding: digits, as: UTF8.self), radix: 16).flatMap { $0 < 0 ? nil : $0 }
  }

  private func line() throws -> ArraySlice<UInt8> {
    var line: ArraySlice<UInt8> = []
    while line.count < Self.longestLine, try !isAtEnd() {
      let piece = unread.prefix(Self.longestLine - line.count)
      let count = piece.firstIndex(of: 0x0A).map { $0 + 1 - piece.startIndex } ?? piece.count
      line += piece.prefix(count)
      unread = unread.dropFirst(count)
      if line.last == 0x0A { break }
    }
    return line
  }

  private func isAtEnd() throws -> Bool {
    if unread.isEmpty { unread = try nextOfData() }
    return unread.isEmpty
  }
}

/// An error in the body of one message, while others may be intact: a clause.
struct HTTPBodyError: Error, Hashable, Sendable, CustomStringConvertible {
  let description: String

  /// Whether the body is intact but incomplete.
  let isPart: Bool

  init(_ description: String, isPart: Bool = false) {
    self.description = description
    self.isPart = isPart
  }
}
