public import Bytes
import Files

extension StoreDescription.Format {
  /// A folder `Version N` of records, as WebKit writes them.
  public static let webkit = Self(rawValue: "webkit")
}

/// The cache of WebKit's network process: of web views on Apple systems, and of WebKitGTK and WPE.
///
/// There is no index and no lock, and no file is written under another name first. Whatever is read of a record is
/// verified by its checksums, so one that is just being written shows as damaged.
public final class WebKitStore: StoreKind {
  let files: WebKitFiles
  private let now: Timestamp

  /// The entry of each URL that several have, for caches whose keys have neither a partition nor a range: the newest whole
  /// one.
  private(set) lazy var preferred = preferredEntries()

  public let description: StoreDescription

  /// Opens the cache at `path` for reading.
  ///
  /// - Parameters:
  ///   - path: The folder of `Version N`, or that folder itself.
  ///   - now: The current time; WebKit does not use a response with a later time.
  /// - Throws: ``StoreError``.
  public init(readingFrom path: String, now: Timestamp) throws {
    files = try WebKitFiles(at: path)
    self.now = now
    var notes: [String] = []
    if !Self.knownVersions.contains(files.version) {
      notes.append("version \(files.version) is not known: only 16 to 18 are")
    }
    if files.salt == nil {
      notes.append("its file 'salt' is missing, so WebKit will not find its entries again")
    }
    description = StoreDescription(
      path: path, format: .webkit, schemaVersion: Int64(files.version), identity: files.identity,
      notes: notes)
  }

  convenience init(_ opening: StoreOpening) throws {
    try self.init(readingFrom: opening.path, now: opening.now)
  }

  static func changing(
    _ opening: StoreOpening, verifying: Bool
  ) throws(StoreError) -> any IntentStore {
    try WebKitStoreEditor(changing: opening.path, intents: opening.intents)
  }

  static func intentPlace(at path: String) -> Intent.Place? {
    WebKitFiles.place(at: path).flatMap { Intent.Place(.webkit, $0.root) }
  }

  /// The versions whose layout is known.
  static let knownVersions = UInt32(16)...18

  static let format = StoreDescription.Format.webkit

  static let traits = StoreTraits(words: "WebKit cache")

  static let mark = "a folder 'Version N' with 'Records'"

  static func isStore(at path: String, isFolder: Bool) throws(StoreError) -> Bool {
    isFolder && WebKitFiles.place(at: path) != nil
  }

  static func place(at path: String) -> (folder: String, database: String?)? {
    WebKitFiles.place(at: path).map { ($0.root, nil) }
  }

  static func listing(at path: String) -> (path: String, size: ByteCount)? {
    guard let file = WebKitFiles.place(at: path).map({ "\($0.root)/\(WebKitFiles.listing)" }),
      let status = try? FileStatus.of(file), status.kind == .regular
    else { return nil }
    return (file, status.size)
  }

  static func forEachFile(
    _ opening: StoreOpening, _ body: (StoreFile, borrowing OpenFile) throws -> Void
  ) throws {
    let files = try WebKitFiles(at: opening.path)
    for name in files.names {
      for isBlob in name.hasBlob ? [false, true] : [false] {
        let file: WebKitFile
        do throws(WebKitFileFinding) { file = try files.file(name, isBlob: isBlob) } catch {
          continue
        }
        let path = files.path(of: name).utf8.dropFirst(files.root.utf8.count + 1)
        let shown = Array(path) + (isBlob ? Array("-blob".utf8) : [])
        try body(StoreFile(name: ByteString(shown), isOfEntry: true), file.file)
      }
    }
  }

  /// Returns the program of `…/PROGRAM/WebKitCache`, or the container of `…/Library/Caches/WebKit/NetworkCache`.
  static func application(ofStoreAt path: String) -> String? {
    let names = path.utf8.split(separator: UInt8(ascii: "/")).map { Array($0) }
    func name(_ place: Int) -> [UInt8]? {
      names.count > place ? names[names.count - 1 - place] : nil
    }
    if name(0)?.elementsEqual("WebKitCache".utf8) ?? false {
      return name(1).map { String(decoding: $0, as: UTF8.self) }
    }
    guard name(0)?.elementsEqual("NetworkCache".utf8) ?? false,
      name(1)?.elementsEqual("WebKit".utf8) ?? false,
      let folder = name(2), !folder.elementsEqual("Caches".utf8)
    else { return nil }
    return String(decoding: folder, as: UTF8.self)
  }

  public func scan(
    _ projection: Projection, _ body: (borrowing StoredResponse) throws -> ScanStep
  ) throws {
    for name in files.names {
      WorkCounter.add()
      guard let response = read(name, projection) else { continue }
      if try body(response) == .stop { return }
    }
  }

  public func response(_ id: StoredResponse.ID, _ projection: Projection) throws -> StoredResponse?
  {
    guard case .file(let id) = id, let name = files.name(of: id),
      (try? files.status(of: name)) != nil
    else { return nil }
    return read(name, projection)
  }

  public func count() throws -> Int64 { Int64(files.names.count) }

  public func withBody(
    of id: StoredResponse.ID, _ read: (inout BodyReader) throws -> Void
  ) throws {
    guard case .file(let id) = id, let name = files.name(of: id) else {
      throw StoreError(.noSuchResponse, at: files.path)
    }
    var reader: BodyReader
    do throws(WebKitFileFinding) { reader = try bodyReader(of: name) } catch {
      throw StoreError(.noSuchResponse, at: files.path(of: name), because: error.note.message)
    }
    try read(&reader)
  }

  public func rawPropertyList(_ name: String, of id: StoredResponse.ID) throws -> [UInt8]? { nil }

  /// Does nothing: each record is verified by itself, and there is no common state of all of them.
  public func finish() throws {}

  /// Returns a reader of the body of a record.
  func bodyReader(of name: WebKitFiles.Name) throws(WebKitFileFinding) -> BodyReader {
    let record = try files.file(name)
    let (metadata, _) = try record.readMetadata()
    guard metadata.isBodyInline else {
      let blob = try files.file(name, isBlob: true)
      let size = blob.status.size
      guard size == metadata.bodySize else {
        throw .malformed(WebKitFormatError("the file of its body has another length"))
      }
      return BodyReader(blob.intoFile(), size: size)
    }
    let (start, size) = (metadata.bodyStart, record.status.size)
    guard start + metadata.bodySize == size else {
      throw .malformed(WebKitFormatError("it is cut off"))
    }
    return BodyReader(record.intoFile(), range: start.bytes..<size.bytes)
  }

  /// Reads the parts of a record in `projection`; `nil` if it does not exist any more.
  func read(_ name: WebKitFiles.Name, _ projection: Projection) -> StoredResponse? {
    var response = StoredResponse(id: .file(name.id))
    if projection.contains(.storage) {
      response.type = ByteString(Array(files.folders[name.folder].type.utf8)).asciiLowercased
    }
    do throws(WebKitFileFinding) {
      try read(name, projection, into: &response)
    } catch {
      if error == .gone { return nil }
      response.notes.append(error.note)
    }
    response.finishDecoding(projection)
    return response
  }

  private func read(
    _ name: WebKitFiles.Name, _ projection: Projection, into response: inout StoredResponse
  ) throws(WebKitFileFinding) {
    let record = try files.file(name)
    if projection.contains(.share) { response.share = share(of: name, record.status) }
    if projection.contains(.file) { response.file = record.version }
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
      WebKitKey.hash([ByteString(Array(header))], salt: salt, version: 17) != metadata.headerHash
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
        response.decode(try WebKitResponse(header, version: metadata.version), metadata, projection)
      }
    } catch {
      response.notes.append(
        .init(
          .undecodable,
          "unsupported layout of version \(metadata.version), or damaged: \(error.reason)"))
    }
  }

  private func preferredEntries() -> [ByteString: ByteString] {
    var preferred: [ByteString: (isWhole: Bool, seconds: Double, id: ByteString)] = [:]
    var repeated: Set<ByteString> = []
    for name in files.names where files.folders[name.folder].hasResponses {
      guard let record = try? files.file(name), let (metadata, _) = try? record.readMetadata(),
        let url = metadata.key.identifier
      else { continue }
      let entry = (metadata.key.range == nil, metadata.seconds, name.id)
      guard let other = preferred[url] else {
        preferred[url] = entry
        continue
      }
      repeated.insert(url)
      if (entry.0 ? 1 : 0, entry.1) > (other.isWhole ? 1 : 0, other.seconds) {
        preferred[url] = entry
      }
    }
    return preferred.filter { repeated.contains($0.key) }.mapValues(\.id)
  }

  /// What the files of a record take: its own, and the file of its body, which other records can share.
  private func share(of name: WebKitFiles.Name, _ status: FileStatus) -> EntryShare {
    var share = EntryShare(pages: status.size)
    if name.hasBlob, let blob = try? files.status(of: name, isBlob: true) {
      share.file = blob.size
      // Linked from `Blobs`, and once more from each further record.
      if blob.linkCount > 2 {
        share.sharedFile = ByteString(
          Array(blob.identity.map { "\($0)" }.joined(separator: "-").utf8))
      }
    }
    return share
  }
}

extension Projection {
  /// The parts that require the record of a response.
  fileprivate static let ofRecord: Self = [
    .key, .url, .stored, .storage, .body, .requestDetails, .ofHeader,
  ]

  /// The parts that require the header of a record.
  fileprivate static let ofHeader: Self = [
    .status, .mimeType, .method, .protocolProperties, .notes, .ofResponseHeaders,
    .ofRequestHeaders,
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
    if metadata.isBodyInline {
      bodyLocation = .inline
      if metadata.bodyStart + metadata.bodySize != status.size {
        notes.append(.init(.undecodable, "its record has another length than it says"))
      }
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
    let folder = files.folders[name.folder]
    let place = Base16.encode(metadata.key.partitionHash)
    let file = Base16.encode(metadata.key.hash, .capital)
    if !name.bytes.elementsEqual(file) && !name.bytes.elementsEqual(file.map(\.asciiLowercased))
      || !folder.partition.utf8.map(\.asciiLowercased).elementsEqual(place)
      || metadata.key.type != ByteString(Array(folder.type.utf8))
    {
      notes.append(
        .init(.badFileName, "its file has not the name of its key, so WebKit cannot find it"))
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
    }
    if projection.contains(.notes) {
      noteResponseUnlessUTF8()
    }
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
