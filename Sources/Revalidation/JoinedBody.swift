public import Bytes
import Fetching
import HTTPCaching
import ResponseStorage

/// The stored beginning of a body with the rest that its origin has sent (RFC 9110 §15.3.7.3).
public struct JoinedBody: Hashable, Sendable {
  /// Where it is kept.
  let pieces: [BodySpool.Piece]

  /// How much of it was stored, and was not loaded again.
  public let keptSize: ByteCount

  /// The number of bytes of all of it.
  public let size: ByteCount

  /// Joins a rest to the beginning of the body, if it is known to be the rest of the same.
  ///
  /// - Returns: The joined body, or why there is none; `nil` if the answer is no rest and does not have to be.
  /// - Throws: What the spool throws.
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

  /// A misfit, as an error.
  struct MisfitError: Error {
    let misfit: RestMisfit
  }

  /// Why a 206 is not the rest of a body, as far as its head and its length tell.
  private static func misfit(
    of response: ValidationResponse, _ start: StoredStart, _ request: ValidationRequest
  ) -> RestMisfit? {
    guard let stored = request.exchange else { return .validator }
    let fields = response.head.fields
    guard response.head.url.isEmpty || request.names(response.head.url) else { return .otherURL }
    let type = fields.firstValue(of: "Content-Type") ?? []
    guard !type.map(\.asciiLowercased).starts(with: Array("multipart/byteranges".utf8)) else {
      return .multipart
    }
    guard !fields.contains(.contentEncoding) else { return .contentEncoding }
    guard sharesStrongValidator(stored, response) else { return .validator }
    // A date can be that of several variants, and an entity tag cannot (RFC 9110 §8.8.3).
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

  /// Whether a joined body has all digests that were given of it; `nil` if none was.
  private static func verification(
    of joined: JoinedBody, _ response: ValidationResponse, _ start: StoredStart,
    _ request: ValidationRequest, in spool: BodySpool
  ) throws -> Bool? {
    let given = DigestFields(response.head.fields)
    var whole = start.digests.ofRepresentation + given.ofRepresentation
    // What a stored 200 contained was the whole.
    if request.exchange?.status == 200 {
      whole += start.digests.ofContent + [start.digests.contentMD5].compactMap { $0 }
    }
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
  /// The stored response as it is with the rest of its body: a 200 with the length of all of it
  /// (RFC 9110 §15.3.7.3, RFC 9111 §3.4).
  func completed(by response: ValidationResponse, _ body: JoinedBody) -> Exchange {
    // What is about the part alone does not become a field of the whole.
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
