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
