public import Bytes
import Files

extension Finding.Code {
  static let bodyHash = Self(
    "body-hash", .error, "WebKit discards the entry when it notices this, and loads it again")
  static let orphanedBlob = Self(
    "orphaned-blob", .warning, "it wastes disk space, and WebKit never removes it",
    repair: .orphans)
  static let loneBlob = Self(
    "lone-blob", .note, "WebKit removes it when it starts", repair: .orphans)
  static let youngBlob = Self(
    "young-blob", .note, "WebKit may be about to store its record, so it is kept")
  static let missingSalt = Self(
    "missing-salt", .warning, "WebKit will not find its entries again")
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
    for other in try others() {
      guard other.status.kind == .regular, seen.insert(other.status.identity).inserted else {
        continue
      }
      footprint.allocatedBytes += other.status.allocatedSize
      footprint.bodyFilesBytes += other.status.size
      if other.kind == .copiedBlob { continue }
      footprint.orphanFiles += 1
      footprint.orphanBytes += other.status.size
    }
    return footprint
  }

  public func forEachFinding(
    fully: Bool, now: Timestamp, after search: DamageSearch?, _ body: (Finding) throws -> Void
  ) throws {
    for other in try others() {
      if let finding = finding(on: other, now) { try body(finding) }
    }
    if files.salt == nil {
      let path = "\(files.root)/salt"
      let isThere = (try? FileStatus.of(path)) != nil
      try body(
        Finding(
          .missingSalt, isThere ? "it is no file of 8 bytes" : "it does not exist",
          path: ByteString(Array(path.utf8))))
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
