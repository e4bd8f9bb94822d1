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
      throw StoreError(.unsupported, at: files.path, because: refusal.reason)
    }
  }

  func synchronizeStaged(_ names: [ByteString]) throws(StoreError) {
    intent?.synchronize()
    do throws(FileError) {
      for name in names.compactMap({ FoundationFileName($0.bytes) }) {
        try files.synchronize(name)
      }
    } catch {
      throw StoreError(error, path: error.path)
    }
  }

  func removeStaged(_ names: [ByteString]) {
    for name in names.compactMap({ FoundationFileName($0.bytes) }) { files.removeStaged(name) }
    intent?.settle()
  }

  func insert(_ body: (any RawResponseInsertion) throws -> Void) throws {
    let insertion = FoundationInsertion(try files.names(), files: self)
    try body(insertion)
    do throws(FileError) {
      try place(insertion.changes)
      try files.synchronize()
      intent?.settle()
      for change in insertion.changes { try removeReplaced(by: change) }
      try files.synchronize()
    } catch {
      throw StoreError(error, path: error.path)
    }
  }

  /// Gives all staged files their names. An error takes those away again that took no other's place.
  private func place(_ changes: [FoundationInsertion.Change]) throws(FileError) {
    for (count, change) in changes.enumerated() {
      do throws(FileError) { try files.rename(change.staged, to: change.name) } catch {
        for placed in changes[..<count] where !placed.replaced.contains(placed.name) {
          try? files.remove(placed.name)
        }
        throw error
      }
    }
  }

  /// Removes the files of its key that were there before a response came.
  private func removeReplaced(by change: FoundationInsertion.Change) throws(FileError) {
    for name in change.replaced where name != change.name { try files.remove(name) }
  }

  /// What a file is now; `nil` if it is gone, or no regular file.
  func version(of name: FoundationFileName) -> FileVersion? { files.version(of: name) }
}

/// The responses that are to be put into a Foundation store, and the files that go when they are in.
final class FoundationInsertion: RawResponseInsertion {
  /// A response that is to come.
  struct Change {
    /// The file that it is in.
    var staged: FoundationFileName
    /// The name that the file will have.
    var name: FoundationFileName
    /// All files of its key.
    var replaced: [FoundationFileName]
  }

  /// What is to come, in the order in which it was put in.
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
    guard there == replaced else { return false }
    changes.append(
      Change(staged: staged, name: entry.name, replaced: standing[base64] ?? []))
    return true
  }
}
