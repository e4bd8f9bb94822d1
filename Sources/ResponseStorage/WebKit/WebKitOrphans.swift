public import Bytes
import Files

/// A file of a WebKit cache that is no record, and no body of one.
struct WebKitOther {
  enum Kind {
    /// A body next to the records, whose record is gone. It can have another name in `Blobs`.
    case blob
    /// A body in `Blobs` that no record has.
    case loneBlob
    /// A body in `Blobs` that a record has as another file: hard links were lost when the cache was copied.
    case copiedBlob
    /// What an import that was ended has written of a record.
    case staged
    /// WebKit's own listing of the cache.
    case listing
    case unknown
  }

  let kind: Kind
  let path: String
  let status: FileStatus
}

extension WebKitStore {
  /// Returns the files that belong to no record, in the order of their paths.
  func others() throws -> [WebKitOther] {
    var others: [WebKitOther] = []
    for other in files.others {
      guard let status = try? FileStatus.of(other.path) else { continue }
      others.append(
        WebKitOther(kind: other.isBlob ? .blob : .unknown, path: other.path, status: status))
    }
    try files.rootFolder.forEachName { name in
      let isListing = name.elementsEqual(WebKitFiles.listing.utf8)
      guard isListing || WebKitFiles.isStaged(name),
        let status = try? files.rootFolder.status(of: name)
      else {
        return
      }
      let path = "\(files.root)/\(String(decoding: name, as: UTF8.self))"
      others.append(WebKitOther(kind: isListing ? .listing : .staged, path: path, status: status))
    }
    if let blobs = try? Directory("Blobs", in: files.rootFolder) {
      try insertBlobs(of: blobs, into: &others)
    }
    others.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    return others
  }

  private func insertBlobs(
    of folder: borrowing Directory, into others: inout [WebKitOther]
  ) throws {
    // They are read only if there is a body that may be alone.
    var bodies: Set<ByteString>?
    try folder.forEachName { name in
      guard let status = try? folder.status(of: name) else { return }
      var kind = WebKitOther.Kind.unknown
      if let hash = WebKitFiles.isHash(name[...]) ? Base16.decode(name) : nil,
        status.kind == .regular
      {
        if status.linkCount > 1 { return }
        let known = bodies ?? files.bodyHashes()
        bodies = known
        kind = known.contains(ByteString(hash)) ? .copiedBlob : .loneBlob
      }
      let path = "\(files.root)/Blobs/\(String(decoding: name, as: UTF8.self))"
      others.append(WebKitOther(kind: kind, path: path, status: status))
    }
  }

  /// Returns the finding on a file that belongs to no record; `nil` if that is said of the whole cache.
  func finding(on other: WebKitOther, _ now: Timestamp) -> Finding? {
    let (code, message): (Finding.Code, String)
    switch other.kind {
    case .copiedBlob: return nil
    case .blob: (code, message) = (.orphanedBlob, "the record of this body is gone")
    case .loneBlob: (code, message) = (.loneBlob, "no record has this body")
    case .staged: (code, message) = (.temporaryFile, "an import was ended while it wrote this")
    case .listing: (code, message) = (.listing, "it is WebKit's own listing")
    case .unknown: (code, message) = (.otherFile, "it is neither a record nor a body")
    }
    let path = ByteString(Array(other.path.utf8))
    if code.repair == nil { return Finding(code, message, path: path) }
    guard let version = FileVersion(other.status) else {
      return Finding(.otherFile, "it is \(other.status.kind.rawValue), so it is kept", path: path)
    }
    if version.isYoung(at: now) {
      return Finding(
        other.kind == .staged ? .youngTemporaryFile : .youngBlob, message, path: path)
    }
    let name = String(decoding: path.bytes.dropFirst(files.root.utf8.count + 1), as: UTF8.self)
    return Finding(
      code, message, path: path,
      orphan: OrphanFile(name: name, size: version.size, modified: version.modified))
  }

  public func orphans(at now: Timestamp) throws -> OrphanSurvey {
    var survey = OrphanSurvey()
    for other in try others() where other.status.kind == .regular && other.kind != .listing {
      guard let finding = finding(on: other, now) else { continue }
      if let orphan = finding.orphan {
        survey.files.append(orphan)
      } else if other.kind == .unknown {
        survey.foreign.insert(other.status.size)
      } else {
        survey.young.insert(other.status.size)
      }
    }
    return survey
  }
}

extension WebKitFiles {
  /// What the names of files begin with that an import is writing. WebKit ignores them next to `Records`.
  static let staging = "urlcache-admin-"

  static func isStaged(_ name: [UInt8]) -> Bool {
    name.starts(with: staging.utf8) && !name.contains(UInt8(ascii: "/"))
  }

  /// The hashes of the bodies that records have as files.
  fileprivate func bodyHashes() -> Set<ByteString> {
    var hashes: Set<ByteString> = []
    for name in names where name.hasBlob {
      guard let (metadata, _) = try? file(name).readMetadata(), !metadata.isBodyInline else {
        continue
      }
      hashes.insert(ByteString(metadata.bodyHash))
    }
    return hashes
  }

  /// Calls `body` with the folder and the name of an orphan.
  ///
  /// - Parameter path: Its path below the folder of the version. It can come from a plan that anyone has edited.
  /// - Returns: `nil` if no orphan can have the path, or if a record has it now.
  func withOrphan<Result>(
    at path: String, _ body: (borrowing Directory, [UInt8]) throws(FileError) -> Result?
  ) throws(FileError) -> Result? {
    let parts = path.utf8.split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false
    ).map { Array($0) }
    guard let name = parts.last else { return nil }
    switch parts.count {
    case 1:
      return Self.isStaged(name) ? try body(rootFolder, name) : nil
    case 2 where parts[0].elementsEqual("Blobs".utf8) && Self.isHash(name[...]):
      let folder = try Directory("Blobs", in: rootFolder)
      // A record has taken it, or it has a name elsewhere.
      return try folder.status(of: name).linkCount == 1 ? try body(folder, name) : nil
    case 4 where parts[0].elementsEqual("Records".utf8) && Self.isHash(parts[1][...]):
      guard let record = Self.record(ofBlob: name), parts[2].allSatisfy(\.isASCIILetter) else {
        return nil
      }
      var folder = try Directory("Records", in: rootFolder)
      for part in parts[1...2] {
        folder = try Directory(String(decoding: part, as: UTF8.self), in: folder)
      }
      do throws(FileError) { _ = try folder.status(of: record) } catch {
        guard error.kind == .notFound else { throw error }
        return try body(folder, name)
      }
      return nil
    default: return nil
    }
  }

  /// Returns the name of the record that has a body, by the name of the body next to it; `nil` if it is no such name.
  static func record(ofBlob name: [UInt8]) -> [UInt8]? {
    let record = name.dropLast(blobSuffix.count)
    return name.reversed().starts(with: blobSuffix.reversed()) && isHash(record)
      ? Array(record) : nil
  }
}

extension WebKitStoreEditor {
  func remove(
    orphans: [OrphanFile], into removal: inout Removal, unless shouldStop: () -> Bool
  ) throws(StoreError) {
    guard !orphans.isEmpty else { return }
    do throws(FileError) {
      // Recorded before, so that the next command finds what a killed one has left in `Blobs`.
      let bodies = bodies(of: orphans)
      note(bodies)
      var failure: FileError?
      do throws(FileError) {
        for orphan in orphans {
          if shouldStop() { break }
          if try !remove(orphan, &removal) { removal.skippedOrphans.append(orphan.name) }
          removal.visitedOrphans += 1
          WorkCounter.add()
        }
      } catch {
        failure = error
      }
      try finishBatch(bodies, after: failure, into: &removal)
    } catch {
      throw StoreError(error, path: error.path)
    }
  }

  /// Removes an orphan; `false` if it has changed, or is none any more.
  private func remove(
    _ orphan: OrphanFile, _ removal: inout Removal
  ) throws(FileError) -> Bool {
    let removed: FileStatus?
    do throws(FileError) {
      removed = try unlink(orphan)
    } catch {
      guard error.kind == .notFound else { throw error }
      return false
    }
    guard let removed else { return false }
    // The other name is in `Blobs`, and is counted when it goes.
    if removed.linkCount == 1 { removal.returnedBytes += removed.size }
    return true
  }

  /// Removes an orphan, and returns what it was; `nil` if it has changed, or is none any more.
  private func unlink(_ orphan: OrphanFile) throws(FileError) -> FileStatus? {
    try files.withOrphan(at: orphan.name) { folder, name throws(FileError) in
      let status = try folder.status(of: name)
      guard status.kind == .regular, status.size == orphan.size,
        status.modified == orphan.modified
      else { return nil as FileStatus? }
      if overwrites { try hold(name, in: folder) }
      try folder.remove(name)
      try folder.synchronize()
      return status
    }
  }

  /// Returns the files of `Blobs` that are also orphans next to the records.
  private func bodies(of orphans: [OrphanFile]) -> [Intent.RemovedFile] {
    var numbers: Set<UInt64> = []
    for orphan in orphans {
      let status = try? files.withOrphan(at: orphan.name) { folder, name throws(FileError) in
        try folder.status(of: name)
      }
      guard let status, status.linkCount > 1, let number = status.identity.last else { continue }
      numbers.insert(number)
    }
    guard !numbers.isEmpty, let folder = try? Directory("Blobs", in: files.rootFolder) else {
      return []
    }
    var bodies: [Intent.RemovedFile] = []
    try? folder.forEachName { name in
      guard WebKitFiles.isHash(name[...]), let status = try? folder.status(of: name),
        let version = FileVersion(status), numbers.contains(version.number)
      else { return }
      bodies.append(Intent.RemovedFile(name: ByteString(name), version: version))
    }
    return bodies
  }
}
