public import Bytes
internal import Files
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

extension NewResponse {
  /// Creates a response from what a Foundation store has of it, without the body.
  ///
  /// Of the request, the store has only host, port and path, in the file name. If the URL of the response has
  /// the same ones, it is used for the request, too.
  ///
  /// - Returns: `nil` if the archive is not of an HTTP response, or the time of storing is unknown.
  init?(_ archive: borrowing KeyedArchive, in name: FoundationFileName) {
    guard case .response(let seconds, let base64) = name.kind,
      let key = FoundationKey(base64: base64)
    else { return nil }
    var response = StoredResponse(id: .file(name.id))
    response.decodeArchive(archive, .all)
    let created = try? archive.member("date", of: archive.root).flatMap { date in
      if case .date(let seconds) = try archive.value(of: date) {
        Timestamp(secondsSince2001: seconds)
      } else {
        nil
      }
    }
    // The seconds in the name are when the file was written, and the date in the archive when the
    // app made the response. Freshness counts from the latter.
    let stored = Timestamp(secondsSince2001: Double(seconds))
    guard let url = response.url, let status = response.status, let time = stored ?? created,
      let headers = response.responseHeaders
    else { return nil }
    self.init(
      url: FoundationKey(of: url) == key ? url : key.url(like: url), status: status,
      headers: headers, stored: created ?? time, body: nil)
    self.url = url
    firstStored = time
    mimeType = response.mimeType
    userInfo = response.userInfo
    storagePolicy = response.storagePolicy ?? .allowed
  }
}

extension StoredResponse {
  /// The requested URL, as far as it is known. A Foundation store has only its host, port and path; if the URL of the
  /// response has the same ones, it is used.
  public var requestedURL: ByteString? {
    if let url = request.url { return url }
    guard case .file = id, let url, let key = key.flatMap({ FoundationKey(text: $0) }) else {
      return nil
    }
    return FoundationKey(of: url) == key ? url : key.url(like: url)
  }
}

extension FoundationKey {
  /// Returns a URL that has this key, with the scheme of another URL.
  fileprivate func url(like other: ByteString) -> ByteString {
    let parts = parts
    // The scheme is not part of a key, so either one leads back to the same key.
    var url = URLParts(other.bytes).scheme.map { Array($0) } ?? Array("http".utf8)
    let host = URLParts.escaped(parts[0])
    url += "://".utf8
    url += host.contains(UInt8(ascii: ":")) ? [0x5B] + host + [0x5D] : host
    if !parts[1].elementsEqual("-1".utf8) {
      url += [UInt8(ascii: ":")] + URLParts.escaped(parts[1])
    }
    return ByteString(url + Self.escapedPath(parts[2]))
  }

  /// Returns an unescaped path, escaped again.
  private static func escapedPath(_ path: ArraySlice<UInt8>) -> [UInt8] {
    // These three would end the path, or begin an escape, in a URL.
    path.percentEscaped { $0.mayBeInURL && !$0.isBracket && !"%?#".utf8.contains($0) }
  }
}

/// Creates a Foundation store: a folder of archives, one for each stored response.
public struct FoundationStoreWriter: ~Copyable {
  private let path: String

  /// Creates an empty store in a folder, and the folder if it does not exist.
  ///
  /// - Throws: ``StoreError``, also if the folder already contains stored responses.
  public init(creating directory: String) throws {
    path = directory
    do throws(FileError) { try Directory.create(directory) } catch {
      // What is missing is the folder above, and no cache.
      if error.kind == .notFound {
        throw StoreError(.inputOutput, at: directory, because: error.reason)
      }
      guard error.kind == .exists else { throw StoreError(error, path: directory) }
      // Temporary files that an interrupted process left behind do no harm.
      guard try FoundationFiles(at: directory).names().allSatisfy({ $0.kind == .temporary }) else {
        throw StoreError(
          .inputOutput, at: directory, because: "it already contains stored responses")
      }
    }
  }

  /// Stores a response to a request for `url`.
  ///
  /// - Parameters:
  ///   - url: The requested URL, from which the key is derived.
  ///   - stored: When the response is stored; the fraction of a second is dropped.
  ///   - archive: The bytes of a ``FoundationArchive``.
  /// - Returns: The id of the response; `nil` if Foundation would keep it in memory only, as no file can have
  ///   the name of its key.
  /// - Throws: ``StoreError``, also if the store already has a response with this key and second.
  @discardableResult
  public borrowing func insert(
    _ archive: [UInt8], for url: ByteString, stored: Timestamp
  ) throws(StoreError) -> StoredResponse.ID? {
    let seconds = Int64(stored.secondsSince2001.rounded(.towardZero))
    guard let name = FoundationKey(of: url)?.fileName(storedAt: seconds) else { return nil }
    // Written under its final name at once, as no process uses a store that is being made.
    try write(archive, to: name.bytes)
    return .file(name.id)
  }

  /// Leaves a temporary file behind, like a process that ends while it stores a response.
  ///
  /// - Parameter suffix: The end of the file name: letters and digits.
  public borrowing func insertTemporaryFile(
    _ bytes: [UInt8], suffix: String
  ) throws(StoreError) {
    try write(bytes, to: FoundationFileName.temporaryPrefix + Array(suffix.utf8))
  }

  private borrowing func write(_ bytes: [UInt8], to name: [UInt8]) throws(StoreError) {
    let file = "\(path)/\(String(decoding: name, as: UTF8.self))"
    do throws(FileError) { try OpenFile(creating: file).write(bytes) } catch {
      throw StoreError(error, path: file)
    }
  }
}
