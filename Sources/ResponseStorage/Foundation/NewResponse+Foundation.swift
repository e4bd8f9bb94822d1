public import Bytes
import PropertyLists

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
