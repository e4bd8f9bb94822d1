import Bytes
import Files

/// A Foundation store that is open for changes.
///
/// A response is a file, which one system call removes as a whole, even while another process has the
/// store open. There is no lock to take. Only regular files with the name of a file of the store are
/// changed; folders are never removed, and links never followed.
final class FoundationStoreEditor: ResponseStore {
  let files: FoundationFiles
  let intents: IntentFolder?
  /// The record of what this command is about to do; `nil` until there is something to record.
  var intent: OpenIntent?
  /// Whether recording an intent has failed, so that it is not tried again.
  var hasNoIntent = false
  /// Whether files are overwritten before they are removed.
  var overwrites = false

  /// Opens the folder at `path` for changes.
  ///
  /// - Parameter intents: The folder in which changes are recorded before they are made, or `nil` for none.
  init(changing path: String, intents: IntentFolder? = nil) throws(StoreError) {
    self.intents = intents
    files = try FoundationFiles(at: path)
    do throws(FileError) { try FileAccess.checkWriting(to: path) } catch {
      throw StoreError(error, path: path)
    }
  }

  func change(
    _ changes: [UserInfoChange], into changed: inout Set<StoredResponse.ID>,
    unless shouldStop: () -> Bool
  ) throws(StoreError) {
    throw StoreError(
      .inapplicable, at: files.path, because: "user info is part of each entry's archive")
  }

  func remove(
    _ responses: inout some IteratorProtocol<ResponseVersion>, into removal: inout Removal,
    unless shouldStop: () -> Bool
  ) throws(StoreError) {
    do throws(FileError) {
      do throws(FileError) {
        if overwrites {
          try overwriteAndUnlink(&responses, into: &removal, unless: shouldStop)
        } else {
          try unlink(&responses, into: &removal, unless: shouldStop)
        }
      } catch {
        // Files already removed stay removed, so sync them too; report the first error.
        try? files.synchronize()
        throw error
      }
      // Without this sync, files reported as removed could be back after a power failure.
      try files.synchronize()
    } catch {
      throw StoreError(error, path: error.path)
    }
  }

  private func unlink(
    _ responses: inout some IteratorProtocol<ResponseVersion>, into removal: inout Removal,
    unless shouldStop: () -> Bool
  ) throws(FileError) {
    while let response = responses.next(), !shouldStop() {
      let isLinked = isLinked(response)
      if try remove(response) {
        if isLinked { removal.linkedBytes += response.file?.size ?? 0 }
        // Foundation counts lengths and not blocks, so exactly this much is gained towards its
        // capacity.
        removal.returnedBytes += response.file?.size ?? 0
      } else {
        removal.skipped.append(response.id)
      }
      // Counted only after the removal has returned, so that a signal leaves an exact number.
      removal.visited += 1
      WorkCounter.add()
    }
  }

  /// Whether the file of a response has other names.
  private func isLinked(_ response: ResponseVersion) -> Bool {
    guard case .file(let id) = response.id, let name = FoundationFileName(of: id),
      let status = try? files.status(of: name)
    else { return false }
    return status.linkCount > 1
  }

  /// Removes the file of a response; `false` if it does not exist or has changed.
  private func remove(_ response: ResponseVersion) throws(FileError) -> Bool {
    guard case .file(let id) = response.id, let version = response.file,
      let name = FoundationFileName(of: id)
    else { return false }
    return try files.remove(name, ifStill: version)
  }

  func remove(
    orphans: [OrphanFile], into removal: inout Removal, unless shouldStop: () -> Bool
  ) throws(StoreError) {
    guard !orphans.isEmpty else { return }
    do throws(FileError) {
      for orphan in orphans {
        if shouldStop() { break }
        if try !remove(orphan, &removal) { removal.skippedOrphans.append(orphan.name) }
        removal.visitedOrphans += 1
        WorkCounter.add()
      }
      try files.synchronize()
    } catch {
      throw StoreError(error, path: files.path)
    }
  }

  /// Removes a file that Foundation ignores; `false` if it does not exist or has changed.
  private func remove(
    _ orphan: OrphanFile, _ removal: inout Removal
  ) throws(FileError) -> Bool {
    // The name comes from a plan, which is a file that anyone may have edited: never an entry, or a file outside.
    guard let name = FoundationFileName(Array(orphan.name.utf8)), !name.isSeen,
      let version = files.version(of: name), version.size == orphan.size,
      version.modified == orphan.modified
    else { return false }
    let isLinked = (try files.status(of: name)?.linkCount ?? 0) > 1
    guard overwrites else {
      guard try files.remove(name, ifStill: version) else { return false }
      removal.returnedBytes += version.size
      if isLinked { removal.linkedBytes += version.size }
      return true
    }
    return try overwriteAndUnlink(name, version, into: &removal)
  }

  /// Does nothing: removing a file leaves no free space behind.
  func compact(fully: Bool, unless shouldStop: () -> Bool) -> CompactionMethod { .none }
}

extension FoundationStoreEditor {
  var inUse: Bool { false }

  func stage(_ response: RawResponse) throws -> ByteString? {
    do {
      let entry = try FoundationEntry(of: response)
      let name = FoundationFileName.temporary()
      noteStaging(of: name)
      try files.stage(name) { append in try entry.write(response, append) }
      return ByteString(name.bytes)
    } catch let refusal as AdmissionRefusal {
      throw StoreError(.inapplicable, at: files.path, because: refusal.reason)
    }
  }

  func synchronizeStaged(_ names: [ByteString]) throws(StoreError) {
    guard !names.isEmpty else { return }
    intent?.synchronize()
    do throws(FileError) {
      try files.synchronize(names.compactMap { FoundationFileName($0.bytes) })
    } catch {
      throw StoreError(error, path: error.path)
    }
  }

  func removeStaged(_ names: [ByteString]) {
    for name in names.compactMap({ FoundationFileName($0.bytes) }) { files.removeStaged(name) }
    intent?.settle()
  }

  func insert(_ body: (any RawResponseInsertion) throws -> [ByteString]) throws {
    let insertion = FoundationInsertion(try files.names(), files: self)
    // Nothing is renamed before all responses are accepted, so that an error in the archive leaves
    // the store as it was.
    try synchronizeStaged(body(insertion))
    do throws(FileError) {
      // Rename, sync, then remove: if the power fails in between, a key has two files but never none.
      try place(insertion.changes)
      try files.synchronize()
      // The staged files have their final names, so nothing of the intent is left to be done.
      intent?.settle()
      for change in insertion.changes { try removeReplaced(by: change) }
      try files.synchronize()
    } catch {
      throw StoreError(error, path: error.path)
    }
  }

  /// Renames all staged files. On an error, removes those again that replaced no other file.
  private func place(_ changes: [FoundationInsertion.Change]) throws(FileError) {
    for (count, change) in changes.enumerated() {
      WorkCounter.add()
      do throws(FileError) { try files.rename(change.staged, to: change.name) } catch {
        // A file that has replaced another one stays: its predecessor cannot come back, and an
        // entry is better than none.
        for placed in changes[..<count] where !placed.replaced.contains(placed.name) {
          try? files.remove(placed.name)
        }
        throw error
      }
    }
  }

  /// Removes the older files with the key of an inserted response.
  private func removeReplaced(by change: FoundationInsertion.Change) throws(FileError) {
    for name in change.replaced where name != change.name { try files.remove(name) }
  }

  /// Returns the current version of a file; `nil` if it does not exist or is not a regular file.
  func version(of name: FoundationFileName) -> FileVersion? { files.version(of: name) }
}

/// The responses to insert into a Foundation store, and the files that they replace.
final class FoundationInsertion: RawResponseInsertion {
  /// A response to insert.
  struct Change {
    /// Its staged file.
    var staged: FoundationFileName
    /// The final name of the file.
    var name: FoundationFileName
    /// All existing files with its key.
    var replaced: [FoundationFileName]
  }

  /// The responses to insert, in order.
  private(set) var changes: [Change] = []

  private let store: FoundationStoreEditor
  private let newest: [[UInt8]: FoundationFileName]
  private var standing: [[UInt8]: [FoundationFileName]] = [:]

  init(_ names: [FoundationFileName], files store: FoundationStoreEditor) {
    self.store = store
    newest = FoundationFileName.newest(of: names)
    for name in names {
      if case .response(_, let key) = name.kind { standing[key, default: []].append(name) }
    }
  }

  func insert(
    _ response: RawResponse, staged: ByteString?, replacing replaced: ResponseVersion?
  ) throws -> Bool {
    guard let staged = staged.flatMap({ FoundationFileName($0.bytes) }),
      case let entry = try FoundationEntry(of: response),
      case .response(_, let base64) = entry.name.kind
    else { return false }
    let there = newest[base64].map { name in
      ResponseVersion(
        id: .file(name.id), key: entry.key.text, stored: nil, file: store.version(of: name))
    }
    // Another process has stored or removed a response with this key since the plan was made.
    guard there == replaced else { return false }
    changes.append(
      Change(staged: staged, name: entry.name, replaced: standing[base64] ?? []))
    return true
  }
}

extension FoundationStoreEditor: IntentStore {
  /// Records that a file is about to be written under a temporary name.
  func noteStaging(of name: FoundationFileName) {
    if intent == nil, !hasNoIntent, let intents {
      intent = Intent.Place(.foundation, files.path + "/.").flatMap { intents.begin($0) }
      hasNoIntent = intent == nil
    }
    intent?.note(added: ByteString(name.bytes))
  }

  func finish(_ intent: Intent, into finished: inout FinishedIntents) -> Bool {
    for name in Set(intent.added).compactMap({ FoundationFileName($0.bytes) })
    // Whatever the intent contains, only temporary files are removed.
    where name.kind == .temporary {
      guard let version = files.version(of: name) else { continue }
      do throws(FileError) {
        // The interrupted command may have been one that overwrites.
        let newName = FoundationFileName.temporary()
        if let doomed = try files.overwrite(
          name, ifStill: version, renamingTo: newName, synchronizing: true)
        {
          try files.remove([doomed])
          finished.removedFiles += 1
        }
      } catch {
        finished.remainingFiles += 1
      }
    }
    return finished.remainingFiles == 0
  }
}

extension FoundationStoreEditor {
  /// The number of files that are overwritten before they are removed together.
  private static let batchSize = 256
  /// The number of files from which it is faster to sync the whole file system than each file.
  private static let manyFiles = 64

  func overwriteRemovedFiles() { overwrites = true }

  /// Returns `true`: a folder of files has no free space, and removed files are overwritten one by one.
  func erase(fully: Bool, unless shouldStop: () -> Bool) -> Bool { true }

  /// Removes the files of responses, after overwriting them.
  func overwriteAndUnlink(
    _ responses: inout some IteratorProtocol<ResponseVersion>, into removal: inout Removal,
    unless shouldStop: () -> Bool
  ) throws(FileError) {
    while true {
      let batch = responses.next(Self.batchSize)
      guard !batch.isEmpty, !shouldStop() else { return }
      let newNames = batch.map { _ in FoundationFileName.temporary() }
      for name in newNames { noteStaging(of: name) }
      intent?.synchronize()
      let synchronizesEach = batch.count < Self.manyFiles
      var doomed: [FoundationFiles.Doomed] = []
      for (response, newName) in zip(batch, newNames) {
        if let file = try overwrite(response, newName, synchronizesEach) {
          doomed.append(file)
        } else {
          removal.skipped.append(response.id)
        }
        WorkCounter.add()
      }
      if !synchronizesEach { try files.synchronize(doomed) }
      try remove(doomed, into: &removal)
      removal.visited += batch.count
    }
  }

  /// Removes a file, after overwriting it; `false` if it does not exist or has changed.
  func overwriteAndUnlink(
    _ name: FoundationFileName, _ version: FileVersion, into removal: inout Removal
  ) throws(FileError) -> Bool {
    let newName = FoundationFileName.temporary()
    noteStaging(of: newName)
    intent?.synchronize()
    guard
      let doomed = try files.overwrite(
        name, ifStill: version, renamingTo: newName, synchronizing: true)
    else { return false }
    try remove([doomed], into: &removal)
    return true
  }

  /// Removes overwritten files, and counts them.
  private func remove(
    _ doomed: [FoundationFiles.Doomed], into removal: inout Removal
  ) throws(FileError) {
    try files.remove(doomed)
    removal.returnedBytes += doomed.reduce(0) { $0 + $1.size }
    removal.linkedFiles += doomed.count { $0.isLinked }
    removal.linkedBytes += doomed.reduce(0) { $0 + ($1.isLinked ? $1.size : 0) }
    intent?.settleBatch()
  }

  private func overwrite(
    _ response: ResponseVersion, _ newName: FoundationFileName, _ synchronizes: Bool
  ) throws(FileError) -> FoundationFiles.Doomed? {
    guard case .file(let id) = response.id, let version = response.file,
      let name = FoundationFileName(of: id)
    else { return nil }
    return try files.overwrite(
      name, ifStill: version, renamingTo: newName, synchronizing: synchronizes)
  }
}
