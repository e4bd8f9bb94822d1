import Bytes
import Files
import SQLite

extension AppleStoreEditor: IntentStore {
  /// Records which body files are about to be removed, before their rows are.
  func noteRemoval(of names: [ByteString]) {
    guard intents != nil, !names.isEmpty else { return }
    if overwrites {
      // A file that is partly overwritten is another version of it, so no version is recorded. The rows still decide
      // whether the next command removes the file.
      for name in names where bodies.version(of: name) != nil { openIntent()?.note(added: name) }
      intent?.synchronize()
      return
    }
    let files = names.compactMap { name in
      bodies.version(of: name).map { Intent.RemovedFile(name: name, version: $0) }
    }
    // A row may refer to a file that does not exist, of which there is nothing to remove later.
    if !files.isEmpty { openIntent()?.note(files) }
  }

  /// Records that a body file is about to be written to which no row refers yet.
  func noteStaging(of name: ByteString) {
    if intents != nil { openIntent()?.note(added: name) }
  }

  private func openIntent() -> OpenIntent? {
    if intent == nil, !hasNoIntent {
      intent = Intent.Place(.apple, files.bodies).flatMap { intents?.begin($0) }
      // Not tried again for each batch: every attempt would wait for the file system and print the
      // same note.
      hasNoIntent = intent == nil
    }
    return intent
  }

  func finish(_ intent: Intent, into finished: inout FinishedIntents) throws(StoreError) -> Bool {
    var orphans: [String: OrphanFile] = [:]
    func add(_ name: ByteString, unless isOther: (FileVersion) -> Bool) {
      guard let version = bodies.version(of: name), !isOther(version), let name = name.string
      else { return }
      orphans[name] = OrphanFile(name: name, size: version.size, modified: version.modified)
    }
    // A file with the same name but another version was written since, and is not ours to remove.
    // The file of an added name was just being written when its process died, so its version cannot
    // be known.
    for file in intent.removed { add(file.name) { $0 != file.version } }
    for name in intent.added { add(name) { _ in false } }
    guard !orphans.isEmpty else { return true }
    finished.areBodyFiles = true
    var removal = Removal()
    // The interrupted command may have been one that overwrites.
    overwrites = true
    // The rows are asked, and not the intent. If the transaction of the killed command was rolled
    // back, rows still refer to these files, and they must be kept.
    let isDecided = try decide(
      orphans.values.sorted { $0.name < $1.name }, into: &removal, unless: { false })
    finished.removedFiles += removal.visitedOrphans - removal.skippedOrphans.count
    finished.remainingFiles += removal.orphanedFiles
    if removal.returnedBytes > 0 { bodies.synchronize() }
    return isDecided && removal.orphanedFiles == 0
  }
}
