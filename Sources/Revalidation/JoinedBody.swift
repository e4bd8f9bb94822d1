public import Bytes
import Fetching
import Files
import HTTPCaching
public import ResponseStorage

/// A stored partial body, joined with the rest that the origin server sent (RFC 9110 §15.3.7.3).
public struct JoinedBody: Hashable, Sendable {
  /// The location in the spool.
  let pieces: [BodySpool.Piece]

  /// The size of the stored part, which was not downloaded again.
  public let keptSize: ByteCount

  /// The size of the whole body.
  public let size: ByteCount

  /// Joins the rest to the stored beginning, if it is certain to belong to the same body.
  ///
  /// - Returns: The joined body, or why it cannot be joined; `nil` if the response is no rest and need not be.
  /// - Throws: The error that the spool throws.
  static func joining(
    _ response: ValidationResponse, to start: StoredStart, of request: ValidationRequest,
    in spool: BodySpool
  ) throws -> Result<JoinedBody, MisfitError>? {
    switch response.head.status {
    case 206: break
    case 304: return .failure(MisfitError(misfit: .notModified))
    case 416: return .failure(MisfitError(misfit: .notSatisfiable))
    default: return nil
    }
    if let misfit = misfit(of: response, start, request) {
      return .failure(MisfitError(misfit: misfit))
    }
    let pieces = start.pieces + response.body
    let joined = JoinedBody(
      pieces: pieces, keptSize: start.size, size: start.size + response.bodySize)
    switch try verification(of: joined, response, start, request, in: spool) {
    case false: return .failure(MisfitError(misfit: .digest))
    case nil where request.mayBeRewritten: return .failure(MisfitError(misfit: .rewritten))
    default: return .success(joined)
    }
  }

  /// A misfit as an error.
  struct MisfitError: Error {
    let misfit: RestMisfit
  }

  /// Returns why a 206 is not the rest of a body, judged by its head and its length.
  private static func misfit(
    of response: ValidationResponse, _ start: StoredStart, _ request: ValidationRequest
  ) -> RestMisfit? {
    guard let stored = request.exchange else { return .validator }
    let fields = response.head.fields
    // After a redirect, the validator is that of another resource, and two resources may well share
    // a date.
    guard response.head.url.isEmpty || request.names(response.head.url) else { return .otherURL }
    let type = fields.firstValue(of: "Content-Type") ?? []
    // A request for one range may not be answered by several parts (RFC 9110 §15.3.7.2), and the
    // boundaries would become a part of the body.
    guard !type.map(\.asciiLowercased).starts(with: Array("multipart/byteranges".utf8)) else {
      return .multipart
    }
    // Stored bodies are decoded, so an encoded part cannot be appended.
    guard !fields.contains(.contentEncoding) else { return .contentEncoding }
    // Parts may only be combined if they share a strong validator (RFC 9110 §15.3.7.3). A server
    // that ignores `If-Range` would otherwise give a file whose halves are of two versions.
    guard sharesStrongValidator(stored, response) else { return .validator }
    // Several variants can share a date, but not an entity tag (RFC 9110 §8.8.3).
    if Validators(of: stored).entityTag == nil,
      ValidationResult(request, response).mayBeOtherVariant
    {
      return .otherVariant
    }
    let announced =
      stored.status == 206
      ? ContentRange(stored.fields)?.completeLength : stored.announcedLength
    guard let range = ContentRange(fields), let whole = range.completeLength,
      range.first == start.size.bytes, announced == nil || announced == whole
    else { return .contentRange }
    // A server may send less than it was asked for (RFC 9110 §14.2). Joined, the body would be
    // incomplete again, and would now look complete.
    guard range.length == whole - range.first else { return .endsEarly }
    return response.bodySize == ByteCount(range.length) ? nil : .length
  }

  private static func sharesStrongValidator(
    _ stored: Exchange, _ response: ValidationResponse
  ) -> Bool {
    let ours = Validators(of: stored)
    let now = response.responseTime
    let date = DateField(.date, in: response.head.fields, now: now)
    let theirs = Validators(response.head.fields, date: date, now: now)
    if let tag = ours.entityTag { return theirs.entityTag?.stronglyEquals(tag) ?? false }
    guard let ours = ours.lastModified, let theirs = theirs.lastModified else { return false }
    return ours.isStrong && theirs.isStrong && ours.secondsSince1970 == theirs.secondsSince1970
  }

  /// Whether a joined body has all digests given for it; `nil` if none was given.
  private static func verification(
    of joined: JoinedBody, _ response: ValidationResponse, _ start: StoredStart,
    _ request: ValidationRequest, in spool: BodySpool
  ) throws -> Bool? {
    let given = DigestFields(response.head.fields)
    var whole = start.digests.ofRepresentation + given.ofRepresentation
    // The content of a stored 200 is the whole representation, so its digests apply to the joined body.
    if request.exchange?.status == 200 {
      whole += start.digests.ofContent + [start.digests.contentMD5].compactMap { $0 }
    }
    // RFC 7231 removed `Content-MD5` because servers disagreed on whether it is of the part or of
    // the whole, so either counts.
    let either = [given.contentMD5].compactMap { $0 }
    let rest = try DigestCheck(
      of: spool.body(of: response.body), for: given.ofContent + either)
    let check = try DigestCheck(of: spool.body(of: joined.pieces), for: whole + either)
    guard given.ofContent.allSatisfy(rest.agrees), whole.allSatisfy(check.agrees),
      either.allSatisfy({ rest.agrees(with: $0) || check.agrees(with: $0) })
    else { return false }
    return whole.isEmpty && !either.contains(where: check.agrees) ? nil : true
  }
}

extension Exchange {
  /// Returns the stored response, completed with the rest of its body: a 200 with the length of the whole body (RFC
  /// 9110 §15.3.7.3, RFC 9111 §3.4).
  func completed(by response: ValidationResponse, _ body: JoinedBody) -> Exchange {
    // Fields about the partial content must not become fields of the whole response.
    let rest = FieldSection(
      response.head.fields.lines.filter { line in
        !DigestFields.ofContent.contains { $0.matches(line.name) }
      })
    let update = NotModified(
      fields: rest, requestTime: response.requestTime, responseTime: response.responseTime)
    var lines = Freshening(self, by: update).exchange.fields.lines
    lines.removeAll { FieldName.contentRange.matches($0.name) }
    if status == 206 {
      lines.removeAll { line in DigestFields.ofContent.contains { $0.matches(line.name) } }
    }
    let length = FieldLine(
      name: Array("Content-Length".utf8), value: Array("\(body.size.bytes)".utf8))
    let place = lines.firstIndex { FieldName.contentLength.matches($0.name) } ?? lines.endIndex
    lines.removeAll { FieldName.contentLength.matches($0.name) }
    lines.insert(length, at: place)
    return Exchange(
      request: request, status: 200, fields: FieldSection(lines),
      requestTime: response.requestTime, responseTime: response.responseTime,
      varyRecord: varyRecord, bodyBytes: body.size.bytes)
  }
}

/// The stored beginning of a body, to be joined with the rest.
struct StoredStart: Hashable, Sendable {
  /// The location in the spool.
  let pieces: [BodySpool.Piece]

  /// The size.
  let size: ByteCount

  /// The header fields of the stored response.
  let fields: FieldSection

  /// The digests in the stored response.
  var digests: DigestFields { DigestFields(fields) }

  init(pieces: [BodySpool.Piece], size: ByteCount, fields: FieldSection) {
    (self.pieces, self.size, self.fields) = (pieces, size, fields)
  }

  /// Copies the beginning of a body to the spool.
  ///
  /// - Parameter size: The number of bytes.
  /// - Returns: `nil` if the body is shorter, or cannot be read.
  /// - Throws: The error that the spool throws.
  init?(
    _ size: ByteCount, of id: StoredResponse.ID, from source: any ResponseSource,
    in spool: BodySpool
  ) throws {
    var pieces: [BodySpool.Piece] = []
    var rest = size
    var fields: HeaderFields?
    do {
      fields = try source.response(id, .responseHeaders)?.responseHeaders
      try source.withBody(of: id) { reader in
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while rest > 0, case let count = try reader.read(into: &buffer), count > 0 {
          let taken = min(ByteCount(count), rest)
          try spool.append(Array(buffer.prefix(Int(taken.bytes))), to: &pieces)
          rest -= taken
        }
      }
    } catch is StoreError {
      return nil
    }
    // The app may have replaced the entry since it was read. A shorter beginning would leave a hole
    // in the joined body.
    guard rest == 0, let fields else { return nil }
    self.init(pieces: pieces, size: size, fields: FieldSection(fields))
  }
}

/// A temporary file for bodies, several of which can be received at once.
public final class BodySpool {
  /// A contiguous range of the file with bytes of one body.
  public typealias Piece = Range<Int64>

  private var file: TemporaryFile

  /// Creates an empty spool.
  public init() throws {
    file = try TemporaryFile()
  }

  /// Appends bytes to a body.
  public func append(_ bytes: [UInt8], to body: inout [Piece]) throws {
    let start = file.size
    try file.append(bytes)
    // Several bodies arrive at once, piece by piece. Without joining neighbours, a body of
    // gigabytes would have a list of a piece for every 64 KiB.
    if let last = body.last, last.upperBound == start {
      body[body.count - 1] = last.lowerBound..<file.size
    } else if !bytes.isEmpty {
      body.append(start..<file.size)
    }
  }

  /// Returns the body in some pieces; it is read lazily.
  public func body(of pieces: [Piece]) -> Body {
    let size = pieces.reduce(0 as ByteCount) { $0 + ByteCount($1.count) }
    return Body(size: size) { [self] in
      var rest = pieces[...]
      var offset: Int64 = 0
      return BodyReader(size: size) { [self] buffer in
        guard let piece = rest.first else { return 0 }
        let read = try readSome(into: &buffer, at: piece.lowerBound + offset)
        let count = min(read, Int(Int64(piece.count) - offset))
        offset += Int64(count)
        if offset == piece.count {
          rest.removeFirst()
          offset = 0
        }
        return count
      }
    }
  }

  private func readSome(into buffer: inout [UInt8], at offset: Int64) throws(StoreError) -> Int {
    do throws(FileError) {
      let count = try file.read(into: &buffer, at: offset)
      if count > 0 { return count }
    } catch {
      throw StoreError(.inputOutput, at: error.path, because: error.reason)
    }
    // The file has no name, so no other process can have cut it. A body that ended early without an
    // error would be stored as a whole one.
    throw StoreError(.inputOutput, at: nil, because: "a temporary file was truncated")
  }
}
