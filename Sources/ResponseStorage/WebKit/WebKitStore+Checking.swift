public import Bytes
import Files

extension Finding.Code {
  static let bodyHash = Self(
    "body-hash", .error, "WebKit discards the entry when it notices this, and loads it again")
  static let orphanedBlob = Self(
    "orphaned-blob", .warning, "it wastes disk space, and WebKit never removes it")
  static let loneBlob = Self(
    "lone-blob", .note, "WebKit removes it when it starts")
  static let unlinkedBlob = Self(
    "unlinked-blob", .note, "the cache was copied without its hard links, so it takes more space")
  static let otherFile = Self("other-file", .note, "WebKit does not recognize its name")
  static let otherVersion = Self("other-version", .note, "only the newest version is read")
  static let listing = Self(
    "plain-listing", .warning, "it repeats URLs and header fields, and outlives their entries")
}

extension WebKitStore {
  public func footprint() throws -> Footprint {
    var footprint = Footprint()
    var seen: Set<[UInt64]> = []
    for name in files.names {
      for isBlob in name.hasBlob ? [false, true] : [false] {
        guard let status = try? files.status(of: name, isBlob: isBlob) else { continue }
        // Equal bodies are one file with several names.
        if isBlob, !seen.insert(status.identity).inserted { continue }
        footprint.allocatedBytes += status.allocatedSize
        footprint.bodyFilesBytes += status.size
      }
    }
    try forEachOther { _, _, status in
      guard status.kind == .regular, seen.insert(status.identity).inserted else { return }
      footprint.allocatedBytes += status.allocatedSize
      footprint.orphanFiles += 1
      footprint.orphanBytes += status.size
      footprint.bodyFilesBytes += status.size
    }
    return footprint
  }

  /// A file that belongs to no record.
  enum Other {
    /// Next to the records, with the name of a body.
    case blob
    /// In `Blobs`, without another name.
    case loneBlob
    /// WebKit's own listing of the cache.
    case listing
    case unknown
  }

  /// Calls `body` with each file that belongs to no record.
  func forEachOther(_ body: (Other, String, FileStatus) throws -> Void) throws {
    for other in files.others {
      guard let status = try? FileStatus.of(other.path) else { continue }
      try body(other.isBlob ? .blob : .unknown, other.path, status)
    }
    let listing = "\(files.root)/\(WebKitFiles.listing)"
    if let status = try? FileStatus.of(listing) { try body(.listing, listing, status) }
    guard let blobs = try? Directory(files.root + "/Blobs") else { return }
    try blobs.forEachName { name in
      guard let status = try? blobs.status(of: name) else { return }
      let path = blobs.path(of: String(decoding: name, as: UTF8.self))
      if !WebKitFiles.isHash(name[...]) || status.kind != .regular {
        try body(.unknown, path, status)
      } else if status.linkCount == 1 {
        try body(.loneBlob, path, status)
      }
    }
  }

  public func orphans(at now: Timestamp) throws -> OrphanSurvey {
    var survey = OrphanSurvey()
    try forEachOther { kind, _, status in
      guard status.kind == .regular, kind != .listing else { return }
      if FileVersion(status)?.isYoung(at: now) ?? false {
        survey.young.insert(status.size)
      } else {
        survey.foreign.insert(status.size)
      }
    }
    return survey
  }

  public func forEachFinding(
    fully: Bool, now: Timestamp, after search: DamageSearch?, _ body: (Finding) throws -> Void
  ) throws {
    try forEachOther { kind, path, _ in
      let path = ByteString(Array(path.utf8))
      switch kind {
      case .blob:
        try body(Finding(.orphanedBlob, "the record of this body is gone", path: path))
      case .loneBlob:
        // Every body of a copied cache is alone; the records then have files of their own.
        if !isCopied { try body(Finding(.loneBlob, "no record has this body", path: path)) }
      case .listing: try body(Finding(.listing, "it is WebKit's own listing", path: path))
      case .unknown:
        try body(Finding(.otherFile, "it is neither a record nor a body", path: path))
      }
    }
    if isCopied {
      try body(
        Finding(
          .unlinkedBlob, "no body is linked to the folder 'Blobs'",
          path: ByteString(Array(files.root.utf8))))
    }
    if let folder = Directory.parent(of: files.root).flatMap({ try? Directory($0 + "/.") }) {
      try folder.forEachName { name in
        guard let version = WebKitFiles.number(ofVersion: name), version != files.version else {
          return
        }
        try body(
          Finding(
            .otherVersion, "it is a cache of version \(version)",
            path: ByteString(Array("\(folder.path)/".utf8) + name)))
      }
    }
    if fully { try forEachDamagedBody(body) }
  }

  /// Whether no body has a second name: hard links were lost when the cache was copied.
  var isCopied: Bool {
    var hasBlobs = false
    for name in files.names where name.hasBlob {
      guard let status = try? files.status(of: name, isBlob: true) else { continue }
      if status.linkCount > 1 { return false }
      hasBlobs = true
    }
    return hasBlobs
  }

  /// Reports each record whose body is not the one that it was stored with.
  private func forEachDamagedBody(_ body: (Finding) throws -> Void) throws {
    guard let salt = files.salt else { return }
    for name in files.names {
      do {
        let record = try files.file(name)
        let seen = record.status
        let (metadata, _) = try record.readMetadata()
        var digest = SHA1Digest()
        digest.update(salt[...])
        var reader: BodyReader
        do throws(WebKitFileFinding) { reader = try bodyReader(of: name) } catch {
          // Of a body in the record, and of a file that is gone, a note on the response says so.
          if metadata.isBodyInline || error == .gone || files.hasChanged(name, since: seen) {
            continue
          }
          try body(
            Finding(
              .bodyHash, "the file of its body is not the one that was stored", id: .file(name.id),
              url: metadata.key.identifier))
          continue
        }
        try reader.forEachChunk { digest.update($0) }
        if digest.bytes == metadata.bodyHash || files.hasChanged(name, since: seen) { continue }
        try body(
          Finding(
            .bodyHash, "the hash of its body does not match", id: .file(name.id),
            url: metadata.key.identifier))
      } catch is WebKitFileFinding {
        // A note on the response says so.
        continue
      }
    }
  }
}
