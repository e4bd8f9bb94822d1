import Bytes
import Files

/// A WebKit cache that is open for changes: entries can be removed, while WebKit runs.
///
/// There is no lock to take. Files are only unlinked, never cut or written into, as WebKit maps them into memory. The
/// body goes before its record: WebKit removes a record without a body by itself, but never a body without a record.
/// Source: `webkit-cache.md`, "Removing".
final class WebKitStoreEditor: IntentStore {
  let files: WebKitFiles
  private let intents: IntentFolder?
  private var intent: OpenIntent?
  /// Whether recording an intent has failed, so that it is not tried again.
  private var hasNoIntent = false
  /// The files that are to be overwritten.
  private var held: [HeldFile] = []
  /// Whether removed files are overwritten.
  private(set) var overwrites = false
  /// The folders in which something was removed.
  private var changed: Set<Int> = []
  /// The number of removed records.
  private var removedRecords = 0

  /// How many entries are removed between two syncs of their folders.
  private static let batchSize = 256
  /// How long the file of a body is kept for the record that WebKit may be writing for it, in seconds.
  private static let youth = 60.0

  /// Opens the cache at `path` for changes.
  init(changing path: String, intents: IntentFolder?) throws(StoreError) {
    do { files = try WebKitFiles(at: path) } catch let error as StoreError { throw error } catch {
      throw StoreError(.inputOutput, at: path, because: "\(error)")
    }
    self.intents = intents
    do throws(FileError) {
      for number in files.folders.indices {
        let folder = files.folders[number]
        try FileAccess.checkWriting(to: "\(files.root)/Records/\(folder.partition)/\(folder.type)")
      }
    } catch {
      throw StoreError(error, path: path)
    }
  }

  var inUse: Bool { false }

  func remove(
    _ responses: inout some IteratorProtocol<ResponseVersion>, into removal: inout Removal,
    unless shouldStop: () -> Bool
  ) throws(StoreError) {
    do throws(FileError) {
      do throws(FileError) {
        while case let batch = responses.next(Self.batchSize), !batch.isEmpty {
          try remove(batch, into: &removal, unless: shouldStop)
          if shouldStop() { break }
        }
      } catch {
        try? synchronize()
        throw error
      }
      try removeListing(into: &removal)
      // Without this, files reported as removed could be back after a power failure.
      try synchronize()
    } catch {
      throw StoreError(error, path: error.path)
    }
  }

  private func remove(
    _ batch: [ResponseVersion], into removal: inout Removal, unless shouldStop: () -> Bool
  ) throws(FileError) {
    // Recorded before anything is removed, so that the next command finds what a killed one has left in `Blobs`.
    let blobs = batch.compactMap { doomedBody(of: $0) }
    note(blobs)
    var failure: FileError?
    do throws(FileError) {
      for response in batch {
        if shouldStop() { break }
        if try removeRecord(response, &removal) {
          removedRecords += 1
        } else {
          removal.skipped.append(response.id)
        }
        // Counted only after the removal has returned, so that a signal leaves an exact number.
        removal.visited += 1
        WorkCounter.add()
      }
    } catch {
      failure = error
    }
    try finishBatch(blobs, after: failure, into: &removal)
  }

  /// Removes the bodies of a batch, and overwrites whatever has lost its name, also after an error, which it then throws.
  func finishBatch(
    _ blobs: [Intent.RemovedFile], after failure: FileError?, into removal: inout Removal
  ) throws(FileError) {
    var failure = failure
    do throws(FileError) { try removeBodies(blobs, into: &removal) } catch {
      failure = failure ?? error
    }
    try overwriteHeld(into: &removal)
    if let failure { throw failure }
  }

  /// Returns the name of a record; `nil` if it does not exist, or has changed.
  private func current(_ response: ResponseVersion) -> WebKitFiles.Name? {
    guard case .file(let id) = response.id, let name = files.name(of: id),
      let record = try? files.file(name), response.file != nil, record.version == response.file
    else { return nil }
    return name
  }

  /// Removes a record and the link to its body; `false` if it does not exist, or has changed.
  func removeRecord(
    _ response: ResponseVersion, _ removal: inout Removal
  ) throws(FileError) -> Bool {
    guard let name = current(response) else { return false }
    changed.insert(name.folder)
    if overwrites { try hold(name) }
    if try files.status(of: name, isBlob: true)?.kind == .regular {
      _ = try unlink(name, isBlob: true, &removal)
    }
    guard try unlink(name, isBlob: false, &removal) else { return false }
    // WebKit has stored a body between the two: its record went with the old one.
    if try files.status(of: name, isBlob: true)?.kind == .regular,
      try files.status(of: name) == nil
    {
      _ = try unlink(name, isBlob: true, &removal)
    }
    return true
  }

  /// Removes WebKit's own listing of the cache with the last record; otherwise says that it has what was removed.
  private func removeListing(into removal: inout Removal) throws(FileError) {
    guard removedRecords > 0, let listing = WebKitStore.listing(at: files.root) else { return }
    guard removedRecords == files.names.count else {
      removal.listings = [listing.path]
      return
    }
    let name = Array(WebKitFiles.listing.utf8)
    if overwrites { try hold(name, in: files.rootFolder) }
    try files.rootFolder.remove(name)
    try files.rootFolder.synchronize()
    removal.returnedBytes += listing.size
    try overwriteHeld(into: &removal)
  }

  /// Removes a file; `false` if it does not exist. Its room is free only if it had no other name.
  private func unlink(
    _ name: WebKitFiles.Name, isBlob: Bool, _ removal: inout Removal
  ) throws(FileError) -> Bool {
    do throws(FileError) {
      let status = try files.withFolder(of: name) { folder throws(FileError) in
        let status = try folder.status(of: isBlob ? name.blob : name.bytes)
        try folder.remove(isBlob ? name.blob : name.bytes)
        return status
      }
      if status.linkCount == 1 { removal.returnedBytes += status.size }
      return true
    } catch {
      guard error.kind == .notFound else { throw error }
      return false
    }
  }

  /// Returns the file of `Blobs` that has the body of a response, if it is the same file. A damaged record does not say
  /// which it is.
  private func doomedBody(of response: ResponseVersion) -> Intent.RemovedFile? {
    guard case .file(let id) = response.id, let name = files.name(of: id),
      let (metadata, _) = try? files.file(name).readMetadata(), !metadata.isBodyInline,
      let blob = try? files.status(of: name, isBlob: true)
    else { return nil }
    let hash = Base16.encode(metadata.bodyHash, .capital)
    guard let folder = try? Directory("Blobs", in: files.rootFolder),
      let status = try? folder.status(of: hash),
      // A copy of a cache can have lost its links. A body that nothing links then belongs to this record, or to none.
      status.identity == blob.identity || status.linkCount == 1,
      let version = FileVersion(status)
    else { return nil }
    return Intent.RemovedFile(name: ByteString(hash), version: version)
  }

  func note(_ files: [Intent.RemovedFile]) {
    if files.isEmpty { return }
    beginIntent()
    intent?.note(files)
  }

  /// Records that a file is about to be written.
  func note(staged name: [UInt8]) {
    beginIntent()
    intent?.note(added: ByteString(name))
    intent?.synchronize()
  }

  /// Records that nothing is being written any more.
  func settleStaged() { intent?.settle() }

  private func beginIntent() {
    if intent == nil, !hasNoIntent, let intents {
      intent = Intent.Place(.webkit, self.files.root).flatMap { intents.begin($0) }
      hasNoIntent = intent == nil
    }
  }

  /// Removes files of `Blobs` that no record uses any more: only that gives their space back.
  private func removeBodies(
    _ blobs: [Intent.RemovedFile], into removal: inout Removal
  ) throws(FileError) {
    var seen: Set<ByteString> = []
    for blob in blobs where seen.insert(blob.name).inserted {
      if try removeBody(blob) { removal.returnedBytes += blob.version.size }
    }
    intent?.settleBatch()
  }

  /// Removes a file of `Blobs` if no record uses it; `false` if it is used, or gone.
  private func removeBody(_ blob: Intent.RemovedFile) throws(FileError) -> Bool {
    // The name can come from a record of an interrupted command.
    guard WebKitFiles.isHash(blob.name.bytes[...]) else { return false }
    do throws(FileError) {
      let folder = try Directory("Blobs", in: files.rootFolder)
      let status = try folder.status(of: blob.name.bytes)
      guard status.kind == .regular, status.linkCount == 1,
        status.identity.last == blob.version.number,
        // A file can have any time. No WebKit runs while files are overwritten.
        let now = Timestamp(secondsSince1970: LocalTime.now()),
        overwrites
          || AgeLimit(Self.youth, at: now).isExceeded(
            by: Timestamp(nanosecondsSince1970: status.modified))
      else { return false }
      if overwrites {
        try hold(blob.name.bytes, in: folder)
      }
      try folder.remove(blob.name.bytes)
      try folder.synchronize()
      return true
    } catch {
      guard error.kind == .notFound else { throw error }
      return false
    }
  }

  private func synchronize() throws(FileError) {
    for number in changed {
      try files.withFolder(number) { folder throws(FileError) in try folder.synchronize() }
    }
    changed = []
  }

  /// Removes a record whose body was removed, and then not the record itself; `false` if it is none.
  private func finishRemoval(
    of name: WebKitFiles.Name, _ bodies: Set<ByteString>
  ) throws(FileError) -> Bool {
    guard !name.hasBlob, files.folders[name.folder].hasResponses,
      let (metadata, _) = try? files.file(name).readMetadata(), !metadata.isBodyInline,
      bodies.contains(ByteString(Base16.encode(metadata.bodyHash, .capital))),
      try files.status(of: name, isBlob: true) == nil
    else { return false }
    changed.insert(name.folder)
    if overwrites { try hold(name) }
    var removal = Removal()
    return try unlink(name, isBlob: false, &removal)
  }

  func finish(_ intent: Intent, into finished: inout FinishedIntents) -> Bool {
    // The interrupted command may have been one that overwrites.
    try? overwriteRemovedFiles()
    defer { overwrites = false }
    let bodies = Set(intent.removed.map(\.name))
    for name in bodies.isEmpty ? [] : files.names {
      do throws(FileError) {
        if try finishRemoval(of: name, bodies) { finished.removedFiles += 1 }
      } catch {
        finished.remainingFiles += 1
      }
    }
    try? synchronize()
    for blob in intent.removed {
      do throws(FileError) {
        if try removeBody(blob) { finished.removedFiles += 1 }
      } catch {
        finished.remainingFiles += 1
      }
    }
    for name in intent.added {
      do throws(FileError) {
        if try removeStaged(name.bytes) { finished.removedFiles += 1 }
      } catch {
        finished.remainingFiles += 1
      }
    }
    var removal = Removal()
    if (try? overwriteHeld(into: &removal)) == nil { finished.remainingFiles += 1 }
    return finished.remainingFiles == 0
  }

  /// Does nothing: removing a file leaves no free space behind.
  func compact(fully: Bool, unless shouldStop: () -> Bool) -> CompactionMethod { .none }
}

// What a WebKit cache does not allow.
extension WebKitStoreEditor {
  private var unsupported: StoreError {
    StoreError(
      .inapplicable, at: files.path, because: "only WebKit can add or change its entries")
  }

  func change(
    _ changes: [UserInfoChange], into changed: inout Set<StoredResponse.ID>,
    unless shouldStop: () -> Bool
  ) throws(StoreError) { throw unsupported }

}

extension WebKitStoreEditor {
  /// A file that is removed, and overwritten when it has no name any more.
  private final class HeldFile {
    let file: OpenFile

    init(_ file: consuming OpenFile) { self.file = file }
  }

  func overwriteRemovedFiles() throws(StoreError) {
    // WebKit maps files into memory, and shows what is in them.
    switch FolderUser.find(named: "NetworkPr", in: Directory.parent(of: files.root) ?? ".") {
    case .none: overwrites = true
    case .process(let number):
      throw StoreError(
        .inUseWithoutLock, at: files.path, because: "WebKit has it open: process \(number)")
    case .unknown:
      throw StoreError(
        .inapplicable, at: files.path,
        because:
          "cannot determine whether WebKit is using it on this system, so files are not overwritten"
      )
    }
  }

  /// Returns `true`: there is no free space, and removed files are overwritten one by one.
  func erase(fully: Bool, unless shouldStop: () -> Bool) -> Bool { true }

  /// Opens the files of a record, which are about to lose their names.
  private func hold(_ name: WebKitFiles.Name) throws(FileError) {
    for isBlob in name.hasBlob ? [false, true] : [false] {
      // A link or a pipe in place of a body is left where it is.
      guard try files.status(of: name, isBlob: isBlob)?.kind == .regular else { continue }
      do throws(FileError) {
        try files.withFolder(of: name) { folder throws(FileError) in
          try hold(isBlob ? name.blob : name.bytes, in: folder)
        }
      } catch {
        guard error.kind == .notFound else { throw error }
      }
    }
  }

  /// Opens a file that is about to lose its name.
  func hold(_ name: [UInt8], in folder: borrowing Directory) throws(FileError) {
    held.append(HeldFile(try OpenFile(overwriting: name, in: folder)))
  }

  /// Overwrites the held files that have no name any more. Another record has the same body as those that have.
  private func overwriteHeld(into removal: inout Removal) throws(FileError) {
    defer { held = [] }
    for held in held {
      let status = try held.file.status()
      guard status.kind == .regular, status.linkCount == 0 else {
        removal.linkedFiles += 1
        continue
      }
      try held.file.overwrite()
      try held.file.synchronize()
    }
  }
}

extension WebKitFile {
  /// The version of a record; `nil` if it is not a regular file.
  ///
  /// WebKit writes a new response into the same file, and sets the time of the file whenever it reads it. So only the time
  /// in the record tells two responses apart. In a damaged record, which WebKit never uses, there is none.
  var version: FileVersion? {
    guard var version = FileVersion(status) else { return nil }
    if let (metadata, _) = try? readMetadata() {
      guard let microseconds = Int64(exactly: (metadata.seconds * 1e6).rounded()) else {
        return version
      }
      version.modified = microseconds &* 1_000
    }
    return version
  }
}
