import Administration
import Bytes
import Files
import Rendering
import ResponseStorage

/// Removes entries so that nothing of them can be recovered from the files of their cache, and verifies that.
final class SecureRemoval {
  private let environment: CommandEnvironment
  /// The time to wait for the lock of another process, in milliseconds.
  private let wait: Int32
  private let skipsCheck: Bool
  private var texts = RemovedTexts()
  private var isChecked = false
  /// What the same command finds if this one is killed, and does the rest then.
  private var record: ErasureRecord?

  init(waiting wait: Int32, skippingCheck: Bool, in environment: CommandEnvironment) {
    (self.wait, skipsCheck, self.environment) = (wait, skippingCheck, environment)
  }

  /// Records by which texts the entries and files of a plan would be found. They must still exist.
  func collect(_ plan: RemovalPlan) throws {
    let source = try openSource(plan.store.path)
    try environment.showingProgress("Reading entries to remove", of: nil) {
      try texts.insert(plan.entries, from: source)
    }
    try source.finish()
    texts.insert(plan.orphans)
    // The database is checked for damage before the entries are removed.
    isChecked = true
  }

  /// Records by which texts entries would be found that were removed before, as far as they can still be read.
  ///
  /// - Parameter absent: Names that no entry has any more.
  func collectRemains(of store: StoreDescription, _ absent: EntryNames = EntryNames()) throws {
    texts.insert(absent)
    guard store.traits.hasDatabase else { return }
    let remains = try environment.openRemains(store.path, wait, RemovedEntriesOptions())
    try environment.showingProgress("Looking for removed entries", of: nil) {
      try texts.insert(remains)
    }
    try remains.finish()
  }

  /// Removes the files of a survey, to which no entry refers.
  ///
  /// - Parameter removal: Receives what was removed, even if an error is thrown.
  func remove(
    _ survey: OrphanSurvey, from path: String, into removal: inout Removal,
    unless shouldStop: () -> Bool
  ) throws {
    guard !survey.files.isEmpty else { return }
    texts.insert(survey.files)
    let store = try open(path)
    try store.remove(orphans: survey.files, into: &removal, unless: shouldStop)
    _ = try store.erase(fully: false) { false }
  }

  /// Opens the cache for writing, so that removed files are overwritten.
  func open(_ path: String) throws -> any ResponseStore {
    if record == nil { record = environment.beginErasure(path) }
    let store = try environment.showingProgress("Checking the database", of: nil) {
      try environment.openStore(path, wait, !isChecked && !skipsCheck)
    }
    isChecked = true
    try store.overwriteRemovedFiles()
    return store
  }

  /// Overwrites what the removed entries left, and searches the files for them.
  ///
  /// The cache must be closed.
  ///
  /// - Parameter linkedFiles: The number of removed files that were not overwritten.
  /// - Returns: What was done, and the error that ended it early, if one did.
  func finish(
    _ store: StoreDescription, linkedFiles: Int, unless shouldStop: () -> Bool
  ) -> (ErasureReceipt, failure: (any Error)?) {
    var receipt = ErasureReceipt()
    receipt.hasDatabase = store.traits.hasDatabase
    receipt.linkedFiles = linkedFiles
    // What was removed is removed, and the receipt must say so whatever fails here.
    do {
      do {
        try erase(store.path, &receipt, unless: shouldStop)
      } catch let error as StoreError where error.code == .noRoom || error.code == .inputOutput {
        receipt.failure = error.description
      }
      if receipt.isErased { record?.finish() } else { record?.replaceOthers() }
      try verify(store, &receipt)
      return (receipt, nil)
    } catch {
      receipt.failure = receipt.failure ?? "\(error)"
      return (receipt, error)
    }
  }

  /// Searches the files for the removed entries.
  private func verify(_ store: StoreDescription, _ receipt: inout ErasureReceipt) throws {
    let footprint = try footprint(of: store.path)
    (receipt.logBytes, receipt.freeBytes) = (footprint.walBytes, footprint.freeBytes)
    var search = TraceSearch(for: texts)
    try environment.showingProgress(
      "Searching the files", of: footprint.totalBytes.bytes, unit: "bytes"
    ) {
      try environment.forEachFile(store.path, wait) { try search.search($0, $1) }
    }
    receipt.report = try search.finish { try openSource(store.path) }
  }

  /// Returns the sizes of the cache, and closes it.
  private func footprint(of path: String) throws -> Footprint {
    let source = try openSource(path)
    let footprint = try source.footprint()
    try source.finish()
    return footprint
  }

  private func erase(
    _ path: String, _ receipt: inout ErasureReceipt, unless shouldStop: () -> Bool
  ) throws {
    let editor = try open(path)
    receipt.isErased = try environment.showingProgress("Overwriting remains", of: nil) {
      try editor.erase(fully: true, unless: shouldStop)
    }
    receipt.inUse = editor.inUse
    receipt.isStopped = !receipt.isErased && !editor.inUse && shouldStop()
  }

  private func openSource(_ path: String) throws -> any ResponseSource {
    try environment.openSource(path, wait, environment.now).source
  }
}

extension ErasureReceipt {
  /// Suggests the command that overwrites what remains.
  func suggestNextCommand(for path: String, in environment: CommandEnvironment) {
    guard isDone, !isErased else { return }
    let command = "urlcache-admin compact --secure -c \(ShellText.word(ByteString(path)))"
    environment.hint(
      inUse
        ? "overwrite the rest when no process has the cache open: \(command)"
        : "overwrite the rest with: \(command)")
  }
}
