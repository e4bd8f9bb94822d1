public import Bytes
import Files

/// A store that is to be created.
public enum NewStore: Hashable, Sendable, ResponseTarget {
  /// An Apple store of a schema.
  case apple(AppleSchema)
  /// A Foundation store.
  case foundation

  /// The format of the new store.
  public var format: StoreDescription.Format {
    switch self {
    case .apple: .apple
    case .foundation: .foundation
    }
  }

  /// The schema of the new store; `nil` for a Foundation store.
  public var schemaVersion: Int64? {
    switch self {
    case .apple(let schema): schema.rawValue
    case .foundation: nil
    }
  }

  /// Chooses the kind of store from which the responses come.
  ///
  /// In the folder where Foundation keeps its stores, it is always a Foundation store.
  ///
  /// - Parameters:
  ///   - layout: The layout of the store from which the responses come.
  ///   - folder: The folder in which the store will be created.
  public init(like layout: RawLayout, at folder: String) {
    // A `Cache.db` in that folder would never be read, as only Foundation looks there.
    if layout.format == .foundation || FoundationFolder.isStandard(folder) {
      self = .foundation
    } else {
      self = .apple(Self.schema(like: layout))
    }
  }

  /// Returns the schema of the original store, or the newest one if stores of that schema cannot be created.
  public static func schema(like layout: RawLayout) -> AppleSchema {
    let version = layout.userVersion == 0 ? layout.versionInTable : layout.userVersion
    // CFNetwork creates an empty cache of its own if the version is not exactly the one it knows,
    // so the original one is the best guess for who will read the copy.
    return version.flatMap { AppleSchema(rawValue: $0) } ?? .version203
  }

  public func admit(_ response: RawResponse) throws -> AdmittedResponse {
    switch self {
    case .apple: try AppleSchema.admit(response)
    case .foundation: try FoundationEntry.admit(response)
    }
  }

  /// Returns `nil`, as the store is empty.
  public func standingResponse(forKey key: ByteString) -> StandingResponse? { nil }

  /// Returns `nil`, as the store is empty.
  public func standingResponse(withoutKey number: Int64) -> StandingResponse? { nil }

  /// Creates the empty store and fills it. If that fails, everything that was created is removed, and nothing else.
  ///
  /// - Parameters:
  ///   - opening: The folder of the store, which is created if it does not exist.
  ///   - fill: Inserts responses into the store, or throws before it has inserted any.
  /// - Throws: ``StoreError``, also if there already is a store, or any error of `fill`.
  public func create(
    _ opening: StoreOpening, filledBy fill: (any ResponseStore) throws -> Void
  ) throws {
    let made = NewStoreFiles(at: opening.path)
    switch self {
    case .apple(let schema):
      let writer = try made.removingFolders {
        try AppleStoreWriter(creating: opening.path, schema: schema)
      }
      do {
        try writer.finish()
        // The store is closed when this returns or throws, so that its files can be removed.
        try fill(try opening.openForChanging(verifying: false))
      } catch {
        made.removeDatabase(opening)
        throw error
      }
    case .foundation:
      try made.removingFolders {
        _ = try FoundationStoreWriter(creating: opening.path)
        let store = try FoundationStoreEditor(changing: opening.path)
        // A user may have given the wrong folder, and URLCache would accept any.
        guard try !store.files.hasOthers() else {
          throw StoreError(.inputOutput, at: opening.path, because: "it contains other files")
        }
        try fill(store)
      }
    }
  }
}

/// The files and folders that creating a store adds to a folder, so that they can be removed if it fails.
struct NewStoreFiles {
  private let folder: String
  /// The folders that did not exist before, the inner one first.
  private let madeFolders: [String]

  /// Records what exists before a store is created.
  init(at folder: String) {
    self.folder = folder
    madeFolders = ["\(folder)/\(AppleStoreWriter.bodyFolderName)", folder].filter {
      (try? FileStatus.of($0)) == nil
    }
  }

  /// Runs a step of creating a store; if it fails, the created folders are removed.
  func removingFolders<Result: ~Copyable>(_ make: () throws -> Result) throws -> Result {
    do { return try make() } catch {
      removeFolders()
      throw error
    }
  }

  /// Removes the created folders if they are empty.
  private func removeFolders() {
    for path in madeFolders { try? Directory.removeEmpty(path) }
  }

  /// Removes the created database, which is closed, unless another process already uses it.
  func removeDatabase(_ opening: StoreOpening) {
    do {
      // Asked by opening it like any other store: only locks and rows show whether somebody has
      // begun to use it.
      let store = try opening.open()
      // An app may have opened the new database, or stored entries in it, meanwhile.
      guard !store.description.inUse, (try? store.count()) == 0 else { return }
    } catch let error as StoreError where [.inUse, .changedWhileReading].contains(error.code) {
      // Another process has locked it.
      return
    } catch {
      // It was only partly created.
    }
    Self.removeDatabase(in: folder)
    removeFolders()
  }

  /// Removes the database in a folder, with its log and journal.
  static func removeDatabase(in folder: String) {
    guard let directory = try? Directory(folder, followingLink: true) else { return }
    // The database first: nothing reads a log without its database, while a database without its
    // log lacks rows.
    for suffix in ["", "-wal", "-shm", "-journal"] {
      try? directory.remove(AppleStoreWriter.databaseName + suffix)
    }
  }
}
