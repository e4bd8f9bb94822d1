import Archive
import Bytes
import ResponseStorage

/// The payload of a record: the response of HTTP in its block, or the block itself.
struct WARCPayload {
  /// The head of the response; that of a record without one tells its media type only.
  let head: HTTPMessageHead

  /// The status of the response; `nil` if it is none.
  let status: Int64?

  private let reader: WARCReader

  /// Reads the head of the block of a record.
  ///
  /// - Throws: ``HTTPBodyError`` if it is too long, or what reading throws.
  init(_ reader: WARCReader) throws {
    self.reader = reader
    guard reader.header.hasHTTPBlock else {
      var head = HTTPMessageHead(lines: [])
      if let type = reader.header["content-type"] {
        head.headers.fields = [.init(name: "Content-Type", value: type)]
      }
      self.head = head
      status = 200
      return
    }
    guard let head = try HTTPMessageHead.read({ try reader.line(upTo: $0) }) else {
      throw HTTPBodyError("its header fields are too long")
    }
    self.head = head
    status = head.status
  }

  /// Begins to read the body, without transfer and content codings.
  ///
  /// - Parameters:
  ///   - areBodiesDecoded: Whether whoever wrote the record has undone the codings.
  ///   - limit: The most bytes that may come out of a content coding.
  ///   - digests: What takes in the bytes as they are in the block, and without the transfer coding.
  func body(
    areBodiesDecoded: Bool, limit: ByteCount = .max, into digests: WARCPayloadDigests? = nil
  ) throws -> HTTPBodyReader {
    let headers = areBodiesDecoded || !reader.header.hasHTTPBlock ? HeaderFields() : head.headers
    return try HTTPBodyReader(headers, limit: limit) {
      digests?.transferred?.update($0)
    } reading: { [reader] in
      let chunk = try reader.read()
      digests?.sent?.update(chunk)
      return chunk
    }
  }

  /// Passes over what is left of the body.
  func drain(into digests: WARCPayloadDigests) throws {
    while case let chunk = try reader.read(), !chunk.isEmpty { digests.sent?.update(chunk) }
  }
}

/// The digests of a payload by different readings of what that is, of which one must be the named one.
final class WARCPayloadDigests {
  /// Of the bytes as they were sent.
  var sent: WARCDigest.Making?
  /// Without the transfer coding.
  var transferred: WARCDigest.Making?
  /// Without the content coding.
  var decoded: WARCDigest.Making?

  /// Begins the digests for what a header names, if it names any.
  init(_ header: WARCHeader) throws(WARCError) {
    guard let label = header["warc-payload-digest"], let digest = try WARCDigest(label) else {
      return
    }
    sent = .init(of: digest)
    transferred = .init(of: digest)
    decoded = .init(of: digest)
  }

  /// Whether one of them is as it should be, or none is known.
  var areRight: Bool {
    guard let sent, let transferred, let decoded else { return true }
    return sent.isRight || transferred.isRight || decoded.isRight
  }
}

extension WARCHeader {
  /// Whether the block is a message of HTTP.
  var hasHTTPBlock: Bool {
    if type == "resource" { return false }
    guard let type = self["content-type"]?.asciiLowercased.bytes else { return true }
    return type.starts(with: "application/http".utf8)
  }

  /// Whether the record is of a URL of HTTP.
  var isOfHTTP: Bool {
    let uri = targetURI?.asciiLowercased.bytes ?? []
    return uri.starts(with: "http://".utf8) || uri.starts(with: "https://".utf8)
  }
}
