public import Bytes
public import Files

/// The parameters for opening a store of any kind for reading or for changes.
public struct StoreOpening: Sendable {
  /// The kinds of stores, in the order in which they are tried. A new kind is one more line here.
  static let kinds: [any StoreKind.Type] = [
    AppleStore.self,
    FoundationStore.self,
    WebKitStore.self,
  ]

  /// The path of a store.
  public var path: String

  /// How long to wait for another process's lock, in milliseconds.
  public var wait: Int32

  /// The current time; later times count as in the future.
  public var now: Timestamp

  /// The folder in which changes are recorded before they are made; `nil` for none.
  public var intents: IntentFolder?

  /// Creates the parameters.
  public init(
    path: String, wait: Int32, now: Timestamp, intents: IntentFolder? = nil
  ) {
    self.path = path
    self.wait = wait
    self.now = now
    self.intents = intents
  }

  /// Determines the kind of the store at the path, and opens it for reading.
  ///
  /// - Throws: ``StoreError``: `notFound` if there is nothing, `notACache` if it is not a store of any kind.
  public func open() throws -> any StoreSource { try kind().init(self) }

  /// Determines the kind of the store at the path, and opens it for changes.
  ///
  /// - Parameter verifying: Whether to check the store first.
  /// - Throws: ``StoreError``, also `unsupported` if stores of that kind can only be read.
  public func openForChanging(verifying: Bool) throws(StoreError) -> any ResponseStore {
    try kind().changing(self, verifying: verifying)
  }

  func kind() throws(StoreError) -> any StoreKind.Type {
    let isFolder = try Self.isFolder(path)
    // The Apple store comes first: a folder with a `Cache.db` is one even if it also contains files
    // of a Foundation store.
    for kind in Self.kinds where try kind.isStore(at: path, isFolder: isFolder) { return kind }
    let marks = Self.kinds.map { $0.mark }.joined(separator: " nor ")
    throw StoreError(.notACache, at: path, because: "the folder has neither \(marks)")
  }

  /// Whether a path is a folder or a link to one.
  ///
  /// Links to folders are followed, as the folders for temporary files are links on macOS; links to files
  /// are not.
  static func isFolder(_ path: String) throws(StoreError) -> Bool {
    do throws(FileError) {
      let status = try FileStatus.of(path)
      if status.kind == .symbolicLink {
        // The status of the path itself is that of the link, while `/.` is looked up in the folder
        // behind it.
        return (try? FileStatus.of(path + "/."))?.kind == .directory
      }
      return status.kind == .directory
    } catch {
      throw StoreError(error, path: path)
    }
  }
}

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
      try kind().forEachFile(self, body)
    } catch let error as FileError {
      throw StoreError(error, path: error.path)
    }
  }

  /// Returns the names of all files of a folder, in order.
  static func names(in folder: borrowing Directory) throws -> [[UInt8]] {
    var names: [[UInt8]] = []
    try folder.forEachName { names.append($0) }
    return names.sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// Calls `body` with a file, if it exists and is a regular one.
  static func open(
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
