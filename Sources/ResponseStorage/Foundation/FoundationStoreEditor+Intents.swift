import Bytes
import Files

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
