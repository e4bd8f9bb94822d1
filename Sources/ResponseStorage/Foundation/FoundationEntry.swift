import Bytes
import PropertyLists

/// A response from elsewhere as a Foundation store holds it: one file.
struct FoundationEntry {
  /// What is archived of it, but for the body.
  let archive: FoundationArchive

  /// What the store looks it up by.
  let key: FoundationKey

  /// The name of its file.
  let name: FoundationFileName

  /// Makes what Foundation would store of a response to a GET.
  ///
  /// - Throws: ``AdmissionRefusal`` if Foundation would not, or would not find it again.
  init(of raw: RawResponse) throws(AdmissionRefusal) {
    let response = StoredResponse(decoding: raw, .all)
    guard let url = response.url, let status = response.status,
      let headers = response.responseHeaders
    else { throw AdmissionRefusal("its property lists cannot be decoded") }
    guard response.request.method ?? "GET" == "GET" else {
      throw AdmissionRefusal("it answers another method than GET, which URLCache would not tell")
    }
    guard response.storagePolicy ?? .allowed == .allowed else {
      throw AdmissionRefusal("its storage policy does not allow it on disk")
    }
    guard let stored = response.stored ?? response.firstStored else {
      throw AdmissionRefusal("it is not known when it was stored")
    }
    guard let key = FoundationKey(of: Self.readable(response.request.url ?? url)) else {
      throw AdmissionRefusal("its URL has no host")
    }
    // Foundation takes the time of the file from the clock once more, which may show the next second by then.
    let named = max(stored, response.firstStored ?? stored)
    let seconds = Int64(named.secondsSince2001.rounded(.towardZero))
    guard let name = key.fileName(storedAt: seconds) else {
      throw AdmissionRefusal("no file can have the name of its key, so URLCache keeps none on disk")
    }
    (self.key, self.name) = (key, name)
    archive = try Self.archive(
      FoundationArchive(
        url: Self.readable(url), status: status, headers: headers,
        mimeType: response.mimeType, body: nil, created: stored),
      with: response.userInfo)
  }

  /// A URL as Foundation can read it again: what may not stand in one is escaped, and so is a `%` that escapes
  /// nothing.
  private static func readable(_ url: ByteString) -> ByteString {
    let text = URLParts(url.bytes).escaped
    return ByteString(
      text.indices.flatMap { index in
        let digits = text[(index + 1)...].prefix(2)
        return text[index] != UInt8(ascii: "%")
          || digits.count == 2 && digits.allSatisfy { Base16.value(of: $0) != nil }
          ? [text[index]] : Array("%25".utf8)
      })
  }

  /// The archive with as much of the user info as Foundation can read again.
  private static func archive(
    _ archive: FoundationArchive, with userInfo: [StoredResponse.Property]
  ) throws(AdmissionRefusal) -> FoundationArchive {
    for info in [userInfo.compactMap(\.readableByFoundation), []] {
      var archive = archive
      archive.userInfo = info
      if hazard(of: archive) == nil { return archive }
    }
    throw AdmissionRefusal("Foundation may crash on reading it")
  }

  /// What would end a process that reads the archive.
  private static func hazard(of archive: FoundationArchive) -> FoundationHazard? {
    let bytes = archive.parts(bodySize: 0)
    let all = bytes.before + bytes.after
    guard let list = try? BinaryPropertyList(all.span),
      let archive = try? KeyedArchive(list)
    else { return .tooMany }
    return FoundationHazard.find(in: archive)
  }

  /// The response as the store would give it back.
  ///
  /// - Parameter raw: The response that this was made of.
  func kept(of raw: RawResponse) -> RawResponse? {
    let parts = archive.parts(bodySize: 0)
    let bytes = parts.before + parts.after
    guard let list = try? BinaryPropertyList(bytes.span), let archive = try? KeyedArchive(list),
      let response = NewResponse(archive, in: name)
    else { return nil }
    var new = response
    new.body = raw.part(.body)?.content
    return new.raw(id: raw.id)
  }

  /// Writes the file.
  ///
  /// - Parameters:
  ///   - raw: The response that this was made of.
  ///   - append: Takes the next bytes.
  func write(_ raw: RawResponse, _ append: (ArraySlice<UInt8>) throws -> Void) throws {
    let body = raw.part(.body)?.content
    let parts = archive.parts(bodySize: body?.size ?? 0)
    try append(parts.before[...])
    try body?.forEachChunk(append)
    try append(parts.after[...])
  }
}

extension StoredResponse.Property {
  /// The property without what ends a process that reads it with Foundation; `nil` if nothing is left.
  fileprivate var readableByFoundation: Self? {
    switch value {
    case .null, .array, .opaque: nil
    case .dictionary(let properties):
      .init(key: key, value: .dictionary(properties.compactMap(\.readableByFoundation)))
    case .boolean, .integer, .real, .date, .data, .text: self
    }
  }
}
