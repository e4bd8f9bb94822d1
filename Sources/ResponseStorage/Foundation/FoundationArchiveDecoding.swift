import Bytes
import PropertyLists

/// Decoding of responses archived by swift-corelibs-foundation: an instance of `StoredCachedURLResponse`
/// contains the response, the body, the storage policy, the user info and a date.
extension StoredResponse {
  /// Decodes the parts of an archive in `projection`; a part that cannot be decoded gets a note.
  mutating func decodeArchive(_ archive: borrowing KeyedArchive, _ projection: Projection) {
    let root = archive.root
    let projection =
      projection.contains(.notes) ? projection.union(.examinedForNotes) : projection
    decode("response", from: root, of: archive) {
      (response, part, archive) throws(PropertyListError) in
      response.decodeResponse(part, of: archive, projection)
    }
    if projection.contains(.storage) {
      decode("storagePolicy", from: root, of: archive) {
        (response, part, archive) throws(PropertyListError) in
        response.storagePolicy = try archive.integer(part).map { StoragePolicy(stored: $0) }
      }
    }
    if projection.contains(.body) {
      decode("data", from: root, of: archive) {
        (response, part, archive) throws(PropertyListError) in
        guard let size = try archive.dataCount(part) else { return }
        response.bodySize = ByteCount(size)
        response.bodyLocation = .inline
      }
      // The location stays unknown: the entry is undecodable, and not only its body is missing.
      if bodyLocation == nil {
        notes.append(.init(.undecodable, "the archive has no body"))
      }
    }
    if projection.contains(.userInfo) {
      decode("userInfo", from: root, of: archive) {
        (response, part, archive) throws(PropertyListError) in
        response.userInfo = Property.list(
          from: try archive.value(of: part) { Self.joined($0).bytes })
      }
    }
    guard projection.contains(.notes) else { return }
    noteResponseUnlessUTF8()
    // Such an entry looks like any other here, but every lookup of it ends the app.
    if let crash = FoundationCrash.find(in: archive) {
      notes.append(
        .init(
          .fatalToFoundation, "Foundation may crash when it reads this entry: \(crash.rawValue)"))
    }
  }

  /// Decodes a member of an instance, if there is one.
  private mutating func decode(
    _ name: PropertyListKey, from instance: KeyedArchive.Object, of archive: borrowing KeyedArchive,
    _ body: (inout Self, KeyedArchive.Object, borrowing KeyedArchive) throws(PropertyListError) ->
      Void
  ) {
    do throws(PropertyListError) {
      guard let part = try archive.member(name, of: instance) else { return }
      try body(&self, part, archive)
    } catch {
      notes.append(.init(.undecodable, "\(name) cannot be decoded: \(error)"))
    }
  }

  /// Decodes an instance of `NSURLResponse` or `NSHTTPURLResponse`, each member independently.
  private mutating func decodeResponse(
    _ instance: KeyedArchive.Object, of archive: borrowing KeyedArchive, _ projection: Projection
  ) {
    if projection.contains(.url) {
      let noteCount = notes.count
      decode("NS.url", from: instance, of: archive) {
        (response, part, archive) throws(PropertyListError) in
        response.url = try archive.url(part).map { Self.joined($0) }
      }
      if url == nil, notes.count == noteCount {
        notes.append(.init(.undecodable, "the archive has no URL"))
      }
    }
    if projection.contains(.status) {
      decode("NS.statusCode", from: instance, of: archive) {
        (response, part, archive) throws(PropertyListError) in
        response.status = try archive.integer(part)
        if response.status == nil {
          response.notes.append(.init(.undecodable, "NS.statusCode is not an integer"))
        }
      }
    }
    if projection.contains(.mimeType) {
      decode("NS.mimeType", from: instance, of: archive) {
        (response, part, archive) throws(PropertyListError) in
        response.mimeType = try archive.text(part).map { ByteString($0) }
      }
    }
    if !projection.isDisjoint(with: .ofResponseHeaders) {
      decode("NS.allHeaderFields", from: instance, of: archive) {
        (response, part, archive) throws(PropertyListError) in
        response.responseHeaders = HeaderFields(
          try archive.textEntries(of: part).map { entry in
            .init(name: ByteString(entry.key), value: ByteString(entry.value))
          })
      }
    }
  }

  /// Returns the URL for a list of texts, each of which may be relative to the next one.
  fileprivate static func joined(_ texts: [[UInt8]]) -> ByteString {
    guard texts.count > 1, let last = texts.last else { return ByteString(texts.first ?? []) }
    // A base of a base is possible: `NSURL` archives each URL with its own base.
    let url = texts.dropLast().reversed().reduce(URLReference(last)) { base, text in
      URLReference(text).resolved(against: base)
    }
    return ByteString(url.text)
  }
}
