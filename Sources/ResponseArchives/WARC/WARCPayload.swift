import Archive
import Bytes
import ResponseStorage

/// The payload of a record: the HTTP response in its block, or the block itself.
struct WARCPayload {
  /// The head of the response; for a record without one, only its media type.
  let head: HTTPMessageHead

  /// The status of the response; `nil` if the block is not an HTTP response.
  let status: Int64?

  private let reader: WARCReader

  /// Reads the head of a record's block.
  ///
  /// - Throws: ``HTTPBodyError`` if it is too long, or any error from reading.
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

  /// Whether a message with this status has no body, whatever its header fields announce (RFC 9112 §6.3).
  var hasNoBody: Bool {
    guard let status else { return false }
    return status < 200 || status == 204 || status == 304
  }

  /// Whether the response redirects to another URL, so that its body is rarely used.
  var isRedirect: Bool { status.map { 300...399 ~= $0 } ?? false }

  /// Starts reading the body, without transfer and content codings.
  ///
  /// - Parameters:
  ///   - areBodiesDecoded: Whether the record was written without codings.
  ///   - limit: The maximum size of the decoded body, in bytes.
  ///   - digests: Receives the bytes as they are in the block, and without the transfer coding.
  func body(
    areBodiesDecoded: Bool, limit: ByteCount = .max, into digests: WARCPayloadDigests? = nil
  ) throws -> HTTPBodyReader {
    try HTTPBodyReader(codingFields(areBodiesDecoded: areBodiesDecoded), limit: limit) {
      digests?.transferred?.update($0)
    } reading: { [reader] in
      let chunk = try reader.read()
      digests?.sent?.update(chunk)
      return chunk
    }
  }

  /// Returns the header fields that name the codings of the body.
  private func codingFields(areBodiesDecoded: Bool) -> HeaderFields {
    // A file that claims to be from this program is read without codings, even if a hostile one
    // kept the header fields.
    areBodiesDecoded || !reader.header.hasHTTPBlock ? HeaderFields() : head.headers
  }

  /// Starts the digests for ``body(areBodiesDecoded:limit:into:)``.
  func digests(areBodiesDecoded: Bool) -> WARCPayloadDigests {
    WARCPayloadDigests(
      reader.header,
      isCoded: HTTPBodyReader.isCoded(codingFields(areBodiesDecoded: areBodiesDecoded)))
  }

  /// Skips the rest of the body.
  func drain(into digests: WARCPayloadDigests) throws {
    while case let chunk = try reader.read(), !chunk.isEmpty { digests.sent?.update(chunk) }
  }
}

/// The digests of a payload by different interpretations, one of which must match the header.
final class WARCPayloadDigests {
  /// The digest of the bytes as sent.
  var sent: WARCDigest.Making?
  /// The digest without the transfer coding.
  var transferred: WARCDigest.Making?
  /// The digest without the content coding.
  var decoded: WARCDigest.Making?

  /// Whether the body has a transfer or content coding. Without one, only ``decoded`` is computed, as all are equal.
  let isCoded: Bool

  /// Whether the digest in the header fits its algorithm.
  private var isReadable = true

  /// Starts the digests if the header contains a payload digest of a known algorithm.
  init(_ header: WARCHeader, isCoded: Bool) {
    self.isCoded = isCoded
    let digest: WARCDigest?
    do { digest = try header["warc-payload-digest"].flatMap { try WARCDigest($0) } } catch {
      (isReadable, digest) = (false, nil)
    }
    guard let digest else { return }
    decoded = .init(of: digest)
    if isCoded { (sent, transferred) = (.init(of: digest), .init(of: digest)) }
  }

  // All three are computed at once, because a second reading of a record of gigabytes would cost
  // more than two digests that are not needed.
  /// Whether one of them matches, or there is none to compare.
  var areRight: Bool {
    guard let decoded else { return isReadable }
    return decoded.isRight || sent?.isRight ?? false || transferred?.isRight ?? false
  }
}

extension WARCHeader {
  /// Whether the block is an HTTP message.
  var hasHTTPBlock: Bool {
    if type == "resource" { return false }
    guard let type = self["content-type"]?.asciiLowercased.bytes else { return true }
    return type.starts(with: "application/http".utf8)
  }

  /// Whether the target is an HTTP or HTTPS URL.
  var isOfHTTP: Bool {
    let uri = targetURI?.asciiLowercased.bytes ?? []
    return uri.starts(with: "http://".utf8) || uri.starts(with: "https://".utf8)
  }
}
