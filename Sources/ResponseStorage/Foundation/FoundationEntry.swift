import Bytes
import PropertyLists

/// A raw response as an entry of a Foundation store, which is one file.
struct FoundationEntry {
  /// The archive without the body.
  let archive: FoundationArchive

  /// The key under which the store finds it.
  let key: FoundationKey

  /// The name of its file.
  let name: FoundationFileName

  /// Creates the entry that Foundation would store for a response to a GET.
  ///
  /// - Throws: ``AdmissionRefusal`` if Foundation would not store it, or would not find it again.
  init(of raw: RawResponse) throws(AdmissionRefusal) {
    let response = StoredResponse(decoding: raw, .all)
    guard let url = response.url, let status = response.status,
      let headers = response.responseHeaders
    else { throw AdmissionRefusal("its property lists cannot be decoded") }
    // The method is not part of the key, so a response to a POST would answer a GET.
    guard response.request.method ?? "GET" == "GET" else {
      throw AdmissionRefusal(
        "it answers a method other than GET")
    }
    guard response.storagePolicy ?? .allowed == .allowed else {
      throw AdmissionRefusal("its storage policy does not allow it on disk")
    }
    guard let stored = response.stored ?? response.firstStored else {
      throw AdmissionRefusal("the time it was stored is unknown")
    }
    // The key of the escaped URL, which is the form that Foundation reads back.
    guard let key = FoundationKey(of: Self.readable(response.request.url ?? url)) else {
      throw AdmissionRefusal("its URL has no host")
    }
    // Foundation reads the clock again for the name of the file, which can be a second later.
    let named = max(stored, response.firstStored ?? stored)
    let seconds = Int64(named.secondsSince2001.rounded(.towardZero))
    guard let name = key.fileName(storedAt: seconds) else {
      throw AdmissionRefusal(
        "its key cannot be a file name, so URLCache does not store it on disk")
    }
    (self.key, self.name) = (key, name)
    archive = try Self.archive(
      FoundationArchive(
        url: Self.readable(url), status: status, headers: headers,
        mimeType: response.mimeType, body: nil, created: stored),
      with: response.userInfo)
  }

  /// Returns a URL that Foundation can read back: characters that are not allowed are escaped, and so is a `%`
  /// that does not begin an escape.
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

  /// Returns the archive with as much of the user info as Foundation can read back.
  private static func archive(
    _ archive: FoundationArchive, with userInfo: [StoredResponse.Property]
  ) throws(AdmissionRefusal) -> FoundationArchive {
    // Without any user info if Foundation may crash even on the filtered one.
    for info in [userInfo.compactMap(\.readableByFoundation), []] {
      var archive = archive
      archive.userInfo = info
      // The filter above goes by kinds of values, and the crash is looked for in the bytes that
      // will be written. So something that the filter misses is still found.
      if crash(of: archive) == nil { return archive }
    }
    throw AdmissionRefusal("Foundation may crash when it reads this entry")
  }

  /// Returns what would make Foundation crash on reading the archive, or `nil`.
  private static func crash(of archive: FoundationArchive) -> FoundationCrash? {
    // The body cannot make the unarchiver crash, and may be larger than memory.
    let bytes = archive.parts(bodySize: 0)
    let all = bytes.before + bytes.after
    guard let list = try? BinaryPropertyList(all.span),
      let archive = try? KeyedArchive(list)
    else { return .tooMany }
    return FoundationCrash.find(in: archive)
  }

  /// Returns the response as the store would return it.
  ///
  /// - Parameter raw: The response from which this entry was created.
  func kept(of raw: RawResponse) -> RawResponse? {
    let parts = archive.parts(bodySize: 0)
    let bytes = parts.before + parts.after
    guard let list = try? BinaryPropertyList(bytes.span), let archive = try? KeyedArchive(list),
      let response = NewResponse(archive, in: name)
    else { return nil }
    // Decoded from the bytes to be written: what the format cannot keep is missing here, and is
    // reported as a loss.
    var new = response
    new.body = raw.part(.body)?.content
    return new.raw(id: raw.id)
  }

  /// Writes the file.
  ///
  /// - Parameters:
  ///   - raw: The response from which this entry was created.
  ///   - append: Receives the next bytes.
  func write(_ raw: RawResponse, _ append: (ArraySlice<UInt8>) throws -> Void) throws {
    let body = raw.part(.body)?.content
    let parts = archive.parts(bodySize: body?.size ?? 0)
    try append(parts.before[...])
    try body?.forEachChunk(append)
    // The table of offsets is at the end of a property list, so the size of the body must be right
    // before it is read.
    try append(parts.after[...])
  }
}

extension StoredResponse.Property {
  /// The property without values on which Foundation would crash; `nil` if nothing is left.
  fileprivate var readableByFoundation: Self? {
    switch value {
    case .null, .array, .opaque: nil
    case .dictionary(let properties):
      .init(key: key, value: .dictionary(properties.compactMap(\.readableByFoundation)))
    case .boolean, .integer, .real, .date, .data, .text: self
    }
  }
}
