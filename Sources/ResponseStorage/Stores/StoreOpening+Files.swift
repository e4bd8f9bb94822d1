public import Bytes
public import Files

/// A file of a store.
public struct StoreFile: Hashable, Sendable {
  /// The name, relative to the folder of the store; its bytes need not be UTF-8.
  public var name: ByteString

  /// Whether it belongs to one of the responses: it is a body file, or the whole response.
  public var isOfEntry: Bool

  /// Creates a file.
  public init(name: ByteString, isOfEntry: Bool) {
    (self.name, self.isOfEntry) = (name, isOfEntry)
  }
}

extension StoreOpening {
  /// Calls `body` with each regular file of the store, below SQLite.
  ///
  /// - Throws: ``StoreError``, or any error of `body`.
  public func forEachFile(_ body: (StoreFile, borrowing OpenFile) throws -> Void) throws {
    do {
      if try kind() == AppleStore.self {
        try forEachAppleFile(body)
      } else {
        try forEachFoundationFile(body)
      }
    } catch let error as FileError {
      throw StoreError(error, path: error.path)
    }
  }

  private func forEachAppleFile(_ body: (StoreFile, borrowing OpenFile) throws -> Void) throws {
    let files = try AppleStoreFiles(at: path)
    let named = try namesOfBodies()
    let folder = try Directory(files.folder, followingLink: true)
    let database =
      files.database.utf8.split(separator: UInt8(ascii: "/")).last.map { Array($0) } ?? []
    // SQLite has no connection here any more: closing these files would drop its locks.
    for suffix in ["", "-wal", "-shm", "-journal"] {
      let name = database + Array(suffix.utf8)
      let file = StoreFile(name: ByteString(name), isOfEntry: false)
      try Self.open(name, in: folder) { try body(file, $0) }
    }
    let bodies: Directory
    do throws(FileError) { bodies = try Directory(files.bodies) } catch {
      guard error.kind == .notFound else { throw error }
      return
    }
    for name in try Self.names(in: bodies) {
      try Self.open(name, in: bodies) {
        let isNamed = UUIDBytes(name).map { named.contains($0) } ?? false
        let shown = Array("\(AppleStoreWriter.bodyFolderName)/".utf8) + name
        try body(StoreFile(name: ByteString(shown), isOfEntry: isNamed), $0)
      }
    }
  }

  /// Returns the names of the body files of all responses, and closes the store.
  private func namesOfBodies() throws -> Set<UUIDBytes> {
    let store = try AppleStore(self)
    let names = try store.namedBodyFiles().all
    try store.finish()
    return names
  }

  private func forEachFoundationFile(
    _ body: (StoreFile, borrowing OpenFile) throws -> Void
  ) throws {
    let folder = try Directory(path + "/.")
    for name in try Self.names(in: folder) {
      guard let parsed = FoundationFileName(name) else { continue }
      try Self.open(name, in: folder) {
        try body(StoreFile(name: ByteString(name), isOfEntry: parsed.isSeen), $0)
      }
    }
  }

  private static func names(in folder: borrowing Directory) throws -> [[UInt8]] {
    var names: [[UInt8]] = []
    try folder.forEachName { names.append($0) }
    return names.sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// Opens a file, if it exists and is a regular one.
  private static func open(
    _ name: [UInt8], in folder: borrowing Directory, _ body: (borrowing OpenFile) throws -> Void
  ) throws {
    // A pipe or a device is not even opened.
    guard let status = try? folder.status(of: name), status.kind == .regular else { return }
    let file: OpenFile
    do throws(FileError) { file = try OpenFile(reading: name, in: folder) } catch {
      // An app has removed it since.
      guard error.kind == .notFound else { throw error }
      return
    }
    guard try file.status().kind == .regular else { return }
    try body(file)
  }
}
