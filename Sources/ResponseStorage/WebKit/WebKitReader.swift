import Bytes
import Files

/// Reads the records of a WebKit cache as responses, on any thread.
struct WebKitReader: Sendable {
  let files: WebKitFiles
  /// The current time; WebKit does not use a response with a later time.
  let now: Timestamp

  /// Reads the parts of a record in `projection`; `nil` if it does not exist any more.
  func read(_ name: WebKitFiles.Name, _ projection: Projection) -> StoredResponse? {
    var attempt = Attempt()
    while true {
      let response = read(name, projection, &attempt)
      guard attempt.mayBeHalfWritten, attempt.number < Self.mostAttempts, let seen = attempt.seen,
        files.hasChanged(name, since: seen, waitingIfAfter: now)
      else { return response }
    }
  }

  /// How often a record that looks damaged and changes is read.
  private static let mostAttempts = 6

  /// An attempt to read a record. WebKit writes into the file itself, so one that looks damaged may be half written.
  private struct Attempt {
    var number = 0
    /// The status of the file, if it could be opened.
    var seen: FileStatus?
    var mayBeHalfWritten = false
  }

  private func read(
    _ name: WebKitFiles.Name, _ projection: Projection, _ attempt: inout Attempt
  ) -> StoredResponse? {
    attempt = Attempt(number: attempt.number + 1)
    var response = StoredResponse(id: .file(name.id))
    if projection.contains(.storage) {
      response.type = files.folders[name.folder].shownType
    }
    do throws(WebKitFileFinding) {
      try read(name, projection, into: &response, seen: &attempt.seen)
    } catch {
      if error == .gone { return nil }
      response.notes.append(error.note)
    }
    attempt.mayBeHalfWritten = response.notes.contains { $0.code.canBeHalfWritten }
    response.finishDecoding(projection)
    return response
  }

  private func read(
    _ name: WebKitFiles.Name, _ projection: Projection, into response: inout StoredResponse,
    seen: inout FileStatus?
  ) throws(WebKitFileFinding) {
    let record = try files.file(name)
    seen = record.status
    if projection.contains(.share) { response.share = share(of: name, record.status) }
    if projection.contains(.file) {
      response.file = files.hasLinksElsewhere(name, record.status) ? nil : record.version
      // Source: `NetworkCacheStorage.cpp`: set at each read in WebKitGTK and WPE, at most once an hour on Apple systems.
      response.used = Timestamp(nanosecondsSince1970: record.status.modified)
    }
    if projection.isDisjoint(with: .ofRecord) { return }
    let (metadata, bytes) = try record.readMetadata()
    let folder = files.folders[name.folder]
    response.decode(metadata, projection)
    if projection.contains(.method), folder.hasResponses { response.request.method = "GET" }
    if projection.contains(.body) || projection.contains(.notes) {
      response.decodeBody(of: metadata, name, record.status)
    }
    if projection.contains(.notes) {
      response.note(metadata, at: name, in: files, now)
    }
    guard !projection.isDisjoint(with: .ofHeader), folder.hasResponses || folder.hasLists else {
      return
    }
    let header = try record.readHeader(metadata, after: bytes)
    if projection.contains(.notes), let salt = files.salt,
      WebKitKey.hash(header, salt: salt) != metadata.headerHash
    {
      response.notes.append(.init(.undecodable, "the hash of its header does not match"))
    }
    do throws(WebKitFormatError) {
      if folder.hasLists {
        let list = try WebKitSubresources(header)
        if projection.contains(.protocolProperties) {
          response.protocolProperties = [list.property]
        }
      } else {
        let hasFields = !projection.isDisjoint(with: .ofFields)
        let decoded = try WebKitResponse(
          header, version: metadata.version, withFields: hasFields)
        response.decode(decoded, metadata, projection)
      }
    } catch {
      response.notes.append(
        .init(
          .undecodable,
          "unsupported layout of version \(metadata.version), or damaged: \(error.reason)"))
    }
  }

  /// What the files of a record take: its own, and the file of its body, which other records can share.
  private func share(of name: WebKitFiles.Name, _ status: FileStatus) -> EntryShare {
    var share = EntryShare(pages: status.allocatedSize)
    if name.hasBlob, let blob = try? files.status(of: name, isBlob: true) {
      share.file = blob.allocatedSize
      // Linked from `Blobs`, and once more from each further record.
      if blob.linkCount > 2 {
        share.sharedFile = ByteString(
          Array(blob.identity.map { "\($0)" }.joined(separator: "-").utf8))
      }
    }
    return share
  }
}

extension StoredResponse.Note.Code {
  /// Whether it can be because WebKit is just writing the record, or has written its body and not yet linked it.
  fileprivate var canBeHalfWritten: Bool { self == .undecodable || self == .missingBodyFile }
}

extension Projection {
  /// The parts that require the record of a response.
  fileprivate static let ofRecord: Self = [
    .key, .url, .stored, .storage, .body, .requestDetails, .ofHeader,
  ]

  /// The parts that require the header of a record.
  fileprivate static let ofHeader: Self = [
    .status, .mimeType, .method, .notes, .ofFields,
  ]

  /// The parts that require the texts in a header.
  fileprivate static let ofFields: Self = [
    .protocolProperties, .ofResponseHeaders, .ofRequestHeaders,
  ]
}

extension StoredResponse {
  /// Sets what the beginning of a record contains.
  fileprivate mutating func decode(_ metadata: WebKitMetadata, _ projection: Projection) {
    if projection.contains(.key) { key = metadata.key.identifier }
    // WebKit keeps a response under its own URL, and a redirect under the URL that redirects.
    if projection.contains(.url) { url = metadata.key.identifier }
    if projection.contains(.requestDetails) { request.url = metadata.key.identifier }
    if projection.contains(.stored) { stored = metadata.stored }
    if !projection.isDisjoint(with: .ofRequestHeaders), let range = metadata.key.range {
      request.headers = HeaderFields([.init(name: "Range", value: range)])
    }
    if projection.contains(.storage), let partition = metadata.key.partition,
      !partition.bytes.isEmpty
    {
      self.partition = partition
    }
  }

  fileprivate mutating func decodeBody(
    of metadata: WebKitMetadata, _ name: WebKitFiles.Name, _ status: FileStatus
  ) {
    bodySize = metadata.bodySize
    let end = metadata.bodyStart + (metadata.isBodyInline ? metadata.bodySize : 0)
    if end != status.size {
      notes.append(
        .init(.undecodable, "the length of its record differs from the length in its header"))
    }
    if metadata.isBodyInline {
      bodyLocation = .inline
    } else if name.hasBlob {
      (bodyLocation, bodyFileName) = (.file, ByteString(name.blob))
    } else {
      (bodyLocation, bodySize) = (.missing, nil)
      notes.append(.init(.missingBodyFile, "the file of its body does not exist"))
    }
  }

  /// Adds notes on what WebKit would not accept.
  fileprivate mutating func note(
    _ metadata: WebKitMetadata, at name: WebKitFiles.Name, in files: WebKitFiles, _ now: Timestamp
  ) {
    if metadata.version != files.version {
      notes.append(
        .init(.unknownVersion, "it is a record of version \(metadata.version)"))
    }
    guard let stored = metadata.stored else {
      notes.append(.init(.badTime, "the time it was stored is invalid"))
      return
    }
    if stored > now {
      notes.append(
        .init(.futureDated, "it has a future date, so WebKit will not use it, and removes it"))
    }
    if !metadata.isBodyInline, let kind = try? files.status(of: name, isBlob: true)?.kind,
      kind != .regular
    {
      notes.append(.init(.notARegularFile, "its body is \(kind.rawValue)"))
    }
    let folder = files.folders[name.folder]
    if !WebKitFiles.isName(name.bytes, of: metadata.key.hash)
      || !WebKitFiles.isName(folder.partitionBytes, of: metadata.key.partitionHash)
      || metadata.key.type != folder.typeBytes
    {
      notes.append(
        .init(.badFileName, "its file name does not match its key, so WebKit cannot find it"))
    }
    if let salt = files.salt, !metadata.key.isSound(salt: salt, version: metadata.version) {
      notes.append(
        .init(.badFileName, "the hash of its key does not match its salt, so WebKit cannot find it")
      )
    }
  }

  /// Sets what the header of a record contains.
  fileprivate mutating func decode(
    _ header: WebKitResponse, _ metadata: WebKitMetadata, _ projection: Projection
  ) {
    if projection.contains(.status) { status = header.status }
    if projection.contains(.mimeType) {
      mimeType = header.mimeType.flatMap { $0.bytes.isEmpty ? nil : $0 }
    }
    if !projection.isDisjoint(with: .ofResponseHeaders) { responseHeaders = header.fields }
    if !projection.isDisjoint(with: .ofRequestHeaders) {
      request.headers = header.requestFields(metadata)
    }
    if projection.contains(.protocolProperties) {
      protocolProperties = [header.varyRecord, header.redirect?.property].compactMap(\.self)
      webKitMarks = WebKitMarks(
        isRedirect: header.redirect != nil, ageCap: header.ageCap, isRelayed: header.isRelayed,
        isRange: metadata.key.range != nil)
    }
    if projection.contains(.notes) {
      noteResponseUnlessUTF8()
    }
  }
}

/// What WebKit records of a response besides its request and its header fields.
public struct WebKitMarks: Hashable, Sendable {
  /// Whether it leads to another URL, which WebKit then asks for.
  public let isRedirect: Bool

  /// The seconds after which a redirect is not used any more, whatever its lifetime: a limit of tracking prevention;
  /// `nil` if there is none.
  public let ageCap: Double?

  /// Whether it came through iCloud Private Relay.
  public let isRelayed: Bool

  /// Whether it is used for requests with the same `Range` only.
  public let isRange: Bool

  /// Creates the marks of a response.
  public init(
    isRedirect: Bool = false, ageCap: Double? = nil, isRelayed: Bool = false, isRange: Bool = false
  ) {
    self.isRedirect = isRedirect
    self.isRange = isRange
    self.ageCap = ageCap
    self.isRelayed = isRelayed
  }
}

extension WebKitResponse {
  /// The header fields of the request that are stored: those that `Vary` names, and a range; `nil` if there are none.
  func requestFields(_ metadata: WebKitMetadata) -> HeaderFields? {
    var sent = varyingFields.compactMap { field in
      field.value.map { HeaderFields.Field(name: field.name, value: $0) }
    }
    if let range = metadata.key.range { sent.append(.init(name: "Range", value: range)) }
    return sent.isEmpty ? nil : HeaderFields(sent)
  }

  /// The fields of the request that `Vary` names, under its value, as CFNetwork keeps them; `nil` if there is no `Vary`.
  fileprivate var varyRecord: StoredResponse.Property? {
    guard let vary = fields.joinedValue(named: "vary") else { return nil }
    let record = varyingFields.compactMap { field in
      field.value.map { StoredResponse.Property(key: field.name, value: .text($0)) }
    }
    return StoredResponse.Property(key: vary, value: .dictionary(record))
  }
}

extension WebKitResponse.Redirect {
  /// The request that a redirect leads to, as it was sent.
  fileprivate var property: StoredResponse.Property {
    let members = [
      url.map { StoredResponse.Property(key: "url", value: .text($0)) },
      method.map { StoredResponse.Property(key: "method", value: .text($0)) },
      StoredResponse.Property(key: "headers", value: fields.dictionary),
    ]
    return StoredResponse.Property(
      key: "redirect-request", value: .dictionary(members.compactMap(\.self)))
  }
}

extension WebKitSubresources {
  /// What the page loaded: the URL of each resource, the URL of the page, and the fields of the request.
  fileprivate var property: StoredResponse.Property {
    let values = resources.map { resource in
      let members = [
        resource.key.identifier.map { StoredResponse.Property(key: "url", value: .text($0)) },
        resource.page.map { StoredResponse.Property(key: "page", value: .text($0)) },
        resource.page.map { _ in
          StoredResponse.Property(key: "headers", value: resource.fields.dictionary)
        },
      ]
      return StoredResponse.PropertyValue.dictionary(members.compactMap(\.self))
    }
    return StoredResponse.Property(key: "subresources", value: .array(values))
  }
}

extension HeaderFields {
  fileprivate var dictionary: StoredResponse.PropertyValue {
    .dictionary(fields.map { StoredResponse.Property(key: $0.name, value: .text($0.value)) })
  }
}
