public import Bytes
import Files

extension RawResponse {
  /// The column with the beginning of a record of WebKit, up to its body, in a backup.
  static let webKitHead = "webkit_record.head"

  /// The bytes of that column; `nil` if the response does not come from a WebKit cache, or was changed since.
  var webKitHead: [UInt8]? {
    guard case .blob(let head) = value(of: Self.webKitHead) else { return nil }
    return head
  }

  /// Removes the record of WebKit, which has the response as it was.
  mutating func forgetWebKitRecord() { columns.removeAll { $0.name == Self.webKitHead } }

  /// Whether it is a part of a response, which another cache would use for the whole.
  var isPartOfResponse: Bool {
    webKitHead.flatMap { try? WebKitMetadata($0[...]) }?.key.range != nil
  }
}

/// A record from a backup, which belongs to the cache: only in the one with its salt, WebKit finds it.
struct WebKitBackup {
  let metadata: WebKitMetadata
  /// All of the record but its body.
  let head: [UInt8]
  private let body: Body
  private let salt: [UInt8]

  /// Checks a response from a backup, all but its body.
  init(_ raw: RawResponse, for files: borrowing WebKitFiles) throws(AdmissionRefusal) {
    guard let head = raw.webKitHead else {
      throw AdmissionRefusal("only a backup of this WebKit cache can be restored into it")
    }
    guard let metadata = try? WebKitMetadata(head[...]),
      metadata.bodyStart == ByteCount(head.count), metadata.key.type == "Resource"
    else { throw AdmissionRefusal("its record is damaged") }
    let hash = { (bytes: ArraySlice<UInt8>, salt: [UInt8]) in
      var digest = SHA1Digest()
      digest.update(salt[...])
      digest.update(bytes)
      return digest.bytes
    }
    guard let salt = files.salt, metadata.version == files.version,
      metadata.key.isSound(salt: salt, version: metadata.version),
      hash(head[metadata.count...], salt) == metadata.headerHash
    else {
      throw AdmissionRefusal(
        "its record is from another WebKit cache, with another salt, so WebKit would not find it")
    }
    // By that it was selected.
    guard StoredResponse(decoding: raw, .url).url == metadata.key.identifier else {
      throw AdmissionRefusal("its URL differs from the URL in its record")
    }
    guard let body = raw.part(.body)?.content, body.size == metadata.bodySize else {
      throw AdmissionRefusal(
        "its body is missing, or its length differs from the length in its record")
    }
    (self.metadata, self.head, self.body, self.salt) = (metadata, head, body, salt)
  }

  /// Calls `write` with the body in chunks; it can be read only once.
  ///
  /// - Throws: ``AdmissionRefusal`` at its end if it is not the one of the record, or any error of reading or of `write`.
  func forEachChunk(_ write: (ArraySlice<UInt8>) throws -> Void) throws {
    var digest = SHA1Digest()
    digest.update(salt[...])
    try body.forEachChunk {
      digest.update($0)
      try write($0)
    }
    guard digest.bytes == metadata.bodyHash else {
      throw AdmissionRefusal("its body does not match the hash in its record")
    }
  }

  /// The names of the partition and of the record.
  var place: [UInt8] {
    Base16.encode(metadata.key.partitionHash, .capital) + [UInt8(ascii: "/")]
      + Base16.encode(metadata.key.hash, .capital)
  }
}

extension WebKitStore {
  public func admit(_ response: RawResponse) throws -> AdmittedResponse {
    let backup = try WebKitBackup(response, for: files)
    return AdmittedResponse(key: ByteString(backup.place), kept: response)
  }

  public func standingResponse(forKey key: ByteString) throws -> StandingResponse? {
    let parts = key.bytes.split(separator: UInt8(ascii: "/")).map { Array($0) }
    guard parts.count == 2, let name = files.response(named: parts[1], inPartition: parts[0]),
      let raw = try raw(name, number: 0)
    else { return nil }
    return StandingResponse(raw: raw, version: files.version(of: name))
  }

  public func standingResponse(withoutKey number: Int64) -> StandingResponse? { nil }
}

extension WebKitFiles {
  /// Returns the version of a record, by which an import knows it again.
  fileprivate func version(of name: Name) -> ResponseVersion {
    ResponseVersion(
      id: .file(name.id), key: ByteString(name.bytes), stored: nil,
      file: (try? file(name))?.version)
  }
}

extension WebKitStoreEditor {
  func stage(_ response: RawResponse) throws -> ByteString? {
    let name = Array(
      "\(WebKitFiles.staging)\(String(UInt64.random(in: 0 ... .max), radix: 36))".utf8)
    do {
      let backup = try WebKitBackup(response, for: files)
      note(staged: name)
      let record = try OpenFile(creating: name, in: files.rootFolder)
      try record.write(backup.head)
      if backup.metadata.isBodyInline {
        try backup.forEachChunk { try record.write($0) }
      } else {
        let file = try OpenFile(creating: name + WebKitFiles.blobSuffix, in: files.rootFolder)
        try backup.forEachChunk { try file.write($0) }
        try file.synchronize()
      }
      try record.synchronize()
      return ByteString(name)
    } catch {
      // The caller does not know its name.
      _ = try? removeStaged(name)
      switch error {
      // Only now its body is read to the end. It is skipped, and the others are restored.
      case is AdmissionRefusal: return nil
      case let error as FileError: throw StoreError(error, path: error.path)
      default: throw error
      }
    }
  }

  /// Does nothing: each file is synchronized when it is written.
  func synchronizeStaged(_ names: [ByteString]) {}

  func removeStaged(_ names: [ByteString]) {
    for name in names { _ = try? removeStaged(name.bytes) }
    settleStaged()
  }

  /// Removes what was written of a record; `false` if there is nothing. Whatever an intent contains, no other file is
  /// removed.
  func removeStaged(_ name: [UInt8]) throws(FileError) -> Bool {
    guard WebKitFiles.isStaged(name) else { return false }
    var isRemoved = false
    for name in [name, name + WebKitFiles.blobSuffix] {
      do throws(FileError) {
        try files.rootFolder.remove(name)
        isRemoved = true
      } catch {
        guard error.kind == .notFound else { throw error }
      }
    }
    return isRemoved
  }

  func insert(_ body: (any RawResponseInsertion) throws -> [ByteString]) throws {
    let insertion = WebKitInsertion(into: files)
    _ = try body(insertion)
    do throws(FileError) {
      for change in insertion.changes { try place(change) }
      settleStaged()
    } catch {
      throw StoreError(error, path: error.path)
    }
  }

  /// Gives the files of a record their names: first that of its body, so that no record is without one.
  private func place(_ change: WebKitInsertion.Change) throws(FileError) {
    WorkCounter.add()
    let (staged, metadata) = (change.staged, change.metadata)
    let name = Base16.encode(metadata.key.hash, .capital)
    let partition = String(
      decoding: Base16.encode(metadata.key.partitionHash, .capital), as: UTF8.self)
    let folder = try files.rootFolder.createdFolder("Records").createdFolder(partition)
      .createdFolder(
        "Resource")
    if let replaced = change.replaced {
      var removal = Removal()
      _ = try removeRecord(replaced, &removal)
    }
    if !metadata.isBodyInline {
      let blob = staged + WebKitFiles.blobSuffix
      let blobs = try files.rootFolder.createdFolder("Blobs")
      let hash = Base16.encode(metadata.bodyHash, .capital)
      // Another record may have the same body, which is then one file. What only has its name is in the way.
      if try !isBody(hash, of: metadata, in: blobs) { try Self.remove(hash, in: blobs) }
      try Self.ignoring(.exists) { () throws(FileError) in
        try files.rootFolder.link(blob, to: hash, in: blobs)
      }
      // Without a record, a file with the name of its body belongs to none.
      let linked = name + WebKitFiles.blobSuffix
      if (try? folder.status(of: name)) == nil { try Self.remove(linked, in: folder) }
      try Self.ignoring(.exists) { () throws(FileError) in
        try blobs.link(hash, to: linked, in: folder)
      }
      try blobs.synchronize()
    }
    // WebKit may have stored the URL meanwhile, which is newer.
    try Self.ignoring(.exists) { () throws(FileError) in
      try files.rootFolder.link(staged, to: name, in: folder)
    }
    try folder.synchronize()
    _ = try removeStaged(staged)
  }

  /// Whether a file of `Blobs` is the body that its name says.
  private func isBody(
    _ name: [UInt8], of metadata: WebKitMetadata, in blobs: borrowing Directory
  ) throws(FileError) -> Bool {
    guard let status = try? blobs.status(of: name), status.kind == .regular,
      status.size == metadata.bodySize, let salt = files.salt
    else { return false }
    let file = try OpenFile(reading: name, in: blobs)
    var digest = SHA1Digest()
    digest.update(salt[...])
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = try file.read(into: &buffer), count > 0 {
      digest.update(buffer[..<count])
    }
    return digest.bytes == metadata.bodyHash
  }

  /// Removes a file, if it exists.
  private static func remove(_ name: [UInt8], in folder: borrowing Directory) throws(FileError) {
    do throws(FileError) { try folder.remove(name) } catch {
      guard error.kind == .notFound else { throw error }
    }
  }

  private static func ignoring(
    _ kind: FileError.Kind, _ body: () throws(FileError) -> Void
  ) throws(FileError) {
    do throws(FileError) { try body() } catch {
      guard error.kind == kind else { throw error }
    }
  }
}

/// The records to put back into a WebKit cache.
private final class WebKitInsertion: RawResponseInsertion {
  /// A record to put back.
  struct Change {
    /// Its file.
    let staged: [UInt8]
    let metadata: WebKitMetadata
    /// The record that it replaces.
    let replaced: ResponseVersion?
  }

  private(set) var changes: [Change] = []
  private let files: WebKitFiles

  init(into files: WebKitFiles) { self.files = files }

  func insert(
    _ response: RawResponse, staged: ByteString?, replacing replaced: ResponseVersion?
  ) throws -> Bool {
    guard let staged, let metadata = response.webKitHead.flatMap({ try? WebKitMetadata($0[...]) })
    else { return false }
    let there = files.response(
      named: Base16.encode(metadata.key.hash, .capital),
      inPartition: Base16.encode(metadata.key.partitionHash, .capital)
    ).map { files.version(of: $0) }
    guard there == replaced else { return false }
    changes.append(Change(staged: staged.bytes, metadata: metadata, replaced: replaced))
    return true
  }
}
