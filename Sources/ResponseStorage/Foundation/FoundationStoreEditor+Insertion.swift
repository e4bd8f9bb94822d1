import Bytes
import Files

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
