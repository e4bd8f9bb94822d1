public import Bytes
import PropertyLists

extension NewResponse {
  /// Takes what a Foundation store knows of a response; the body is yet to be given.
  ///
  /// The store has nothing of the request but host, port and path, in the name of the file. If the URL of
  /// the response has the same, it is taken for that of the request, too.
  ///
  /// - Returns: `nil` if the archive is of no response of HTTP, or it is not known when it was stored.
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
  /// The URL that was asked for, as far as it is known; a Foundation store has host, port and path of it, and if
  /// those are of the URL of the response, that is taken for it.
  public var requestedURL: ByteString? {
    if let url = request.url { return url }
    guard case .file = id, let url, let key = key.flatMap({ FoundationKey(text: $0) }) else {
      return nil
    }
    return FoundationKey(of: url) == key ? url : key.url(like: url)
  }
}

extension FoundationKey {
  /// A URL that has this key, with the scheme of another.
  fileprivate func url(like other: ByteString) -> ByteString {
    let parts = parts
    var url = URLParts(other.bytes).scheme.map { Array($0) } ?? Array("http".utf8)
    let host = URLParts.escaped(parts[0])
    url += "://".utf8
    url += host.contains(UInt8(ascii: ":")) ? [0x5B] + host + [0x5D] : host
    if !parts[1].elementsEqual("-1".utf8) {
      url += [UInt8(ascii: ":")] + URLParts.escaped(parts[1])
    }
    return ByteString(url + Self.escapedPath(parts[2]))
  }

  /// A path that was unescaped, escaped again.
  private static func escapedPath(_ path: ArraySlice<UInt8>) -> [UInt8] {
    path.percentEscaped { $0.mayBeInURL && !$0.isBracket && !"%?#".utf8.contains($0) }
  }
}
