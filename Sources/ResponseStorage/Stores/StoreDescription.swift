public import Bytes
import Files

/// The description of a source.
public struct StoreDescription: Hashable, Sendable {
  /// A format from which responses are read, with its name in our JSON.
  public struct Format: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) {
      self.rawValue = rawValue
    }
  }

  /// The path of the store, as the user gave it.
  public var path: String

  /// The format.
  public var format: Format

  /// The schema version of an Apple store; `nil` if the store has none.
  public var schemaVersion: Int64?

  /// The device and inode of the file or folder that identifies the store, which its copies do not share;
  /// empty if there is none.
  public var identity: [UInt64]

  /// Whether another process had the store open when the reading began.
  public var inUse: Bool

  /// The process that had the store open when the reading began, if any and if the system reports it.
  public var holder: Int32?

  /// The names of the property lists that ``ResponseSource/rawPropertyList(_:of:)`` returns.
  public var rawPropertyLists: [String]

  /// Notes about the store as a whole, for display.
  public var notes: [String]

  /// Why the store can be read but not changed, as a clause; `nil` if it can be changed, or is not a store.
  public var readOnlyReason: String?

  /// Creates a description.
  public init(
    path: String, format: Format, schemaVersion: Int64?, identity: [UInt64] = [],
    inUse: Bool = false,
    holder: Int32? = nil, rawPropertyLists: [String] = [], notes: [String] = [],
    readOnlyReason: String? = nil
  ) {
    self.path = path
    self.format = format
    self.schemaVersion = schemaVersion
    self.identity = identity
    self.inUse = inUse
    self.holder = holder
    self.rawPropertyLists = rawPropertyLists
    self.notes = notes
    self.readOnlyReason = readOnlyReason
  }
}

/// A kind of store: how it is recognized and opened, and what follows from its format.
protocol StoreKind: StoreSource, SendableMetatype {
  /// The name of the format.
  static var format: StoreDescription.Format { get }

  /// What follows from the format.
  static var traits: StoreTraits { get }

  /// What identifies a store of this kind, for display: `a Cache.db`.
  static var mark: String { get }

  /// Whether an existing path looks like a store of this kind.
  static func isStore(at path: String, isFolder: Bool) throws(StoreError) -> Bool

  /// Opens a store for reading.
  init(_ opening: StoreOpening) throws

  /// Opens a store for changes, after checking it if `verifying` is true.
  ///
  /// - Throws: ``StoreError``, `unsupported` if stores of this kind can only be read.
  static func changing(
    _ opening: StoreOpening, verifying: Bool
  ) throws(StoreError) -> any IntentStore

  /// Returns the folder to which intents of the store at a path refer; `nil` if there is none.
  static func intentPlace(at path: String) -> Intent.Place?

  /// Returns the database in which removed responses remain until they are overwritten; `nil` if there is none.
  static func erasurePlace(at path: String) -> Intent.Place?

  /// Returns the folder of the files of the store at a path, and the name of its database if it has one; `nil` if there
  /// is no such store.
  static func place(at path: String) -> (folder: String, database: String?)?

  /// Returns a file in which the app has listed the entries of the store at a path; `nil` if there is none.
  static func listing(at path: String) -> (path: String, size: ByteCount)?

  /// Calls `body` with each regular file of the store at a path, without the locks of a library.
  ///
  /// - Throws: ``StoreError``, `FileError`, or any error of `body`.
  static func forEachFile(
    _ opening: StoreOpening, _ body: (StoreFile, borrowing OpenFile) throws -> Void) throws

  /// Looks for the entries that the store no longer has.
  ///
  /// - Throws: ``StoreError``, `unsupported` if stores of this kind keep none; or an error of a temporary file.
  static func removedEntries(
    _ opening: StoreOpening, _ options: RemovedEntriesOptions
  ) throws -> any RemovedEntries

  /// Returns the app whose default store has this path, derived from the path alone: a bundle identifier, or the name of
  /// a program; `nil` for a store to which the app gave its own path.
  static func application(ofStoreAt path: String) -> String?

  /// Returns what shows, without opening the store, that it may have changed.
  ///
  /// - Parameter isObserved: Whether the system reports what happens in ``observedFolders(at:)``.
  static func mark(at path: String, isObserved: Bool) throws(StoreError) -> StoreMark

  /// Returns the folders in which each entry is a file; empty if there are none.
  static func observedFolders(at path: String) -> [String]

  /// Whether a file with this name is an entry.
  static func isEntry(_ name: [UInt8]) -> Bool
}

extension StoreKind {
  static func changing(
    _ opening: StoreOpening, verifying: Bool
  ) throws(StoreError) -> any IntentStore {
    throw StoreError(
      .unsupported, at: opening.path,
      because: "this version cannot change caches in this format")
  }

  static func intentPlace(at path: String) -> Intent.Place? { nil }

  static func erasurePlace(at path: String) -> Intent.Place? { nil }

  static func listing(at path: String) -> (path: String, size: ByteCount)? { nil }

  static func mark(at path: String, isObserved: Bool) throws(StoreError) -> StoreMark {
    do throws(FileError) {
      return StoreMark(of: try FileStatus.of(path), header: [], counter: nil)
    } catch {
      throw StoreError(error, path: path)
    }
  }

  static func observedFolders(at path: String) -> [String] { [] }

  static func removedEntries(
    _ opening: StoreOpening, _ options: RemovedEntriesOptions
  ) throws -> any RemovedEntries {
    throw StoreError(
      .unsupported, at: opening.path,
      because: "it is a \(traits.words ?? "cache"), which keeps no removed entries")
  }

  static func isEntry(_ name: [UInt8]) -> Bool { false }
}

/// The size of a store on disk.
public struct Footprint: Hashable, Sendable {
  /// The length of the database file.
  public var databaseBytes: ByteCount = 0
  /// The length of the write-ahead log.
  public var walBytes: ByteCount = 0
  /// The length of the log's index.
  public var shmBytes: ByteCount = 0
  /// The change in the length of the database file once all of the log is checkpointed.
  public var growthBytes: ByteCount = 0
  /// The lengths of all regular files in the folder of body files, including orphans. In a Foundation
  /// store, of all files that `URLCache` counts, which are those with the name of a stored response.
  public var bodyFilesBytes: ByteCount = 0
  /// The size of the free pages of the database.
  public var freeBytes: ByteCount = 0
  /// The number of orphans in the folder of body files. In a Foundation store, of the files that `URLCache`
  /// neither counts nor removes.
  public var orphanFiles: Int64 = 0
  /// The lengths of those files.
  public var orphanBytes: ByteCount = 0
  /// The space that the file system allocates for all of these files.
  public var allocatedBytes: ByteCount = 0
  /// The size of the database without entries: a page for its header and for each table and index.
  public var emptyBytes: ByteCount = 0
  /// The page size of the database.
  public var pageBytes: ByteCount = 0

  /// Creates an empty footprint.
  public init() {}

  /// The total length of all files, which `URLCache` compares with its disk capacity; the largest number
  /// if the sum overflows.
  // CFNetwork counts the log and its index, too. So its usage does not shrink when an entry is
  // removed, until a checkpoint and a vacuum.
  public var totalBytes: ByteCount {
    [walBytes, shmBytes, bodyFilesBytes].reduce(databaseBytes) { $0 + $1 }
  }

  /// The bytes in the file after the end of the database, which a crash can leave. A checkpoint cuts them off, so
  /// there are none if there is a log.
  public var tailBytes: ByteCount { walBytes == 0 ? max(0, -growthBytes) : 0 }

  /// The total length of all files once no process has the store open: the last one to close it removes
  /// the log. An app that was killed leaves its log behind, which is no reason to remove entries.
  // A limit near the size of a log once made `enforce` remove all entries of a cache, and the log
  // stayed.
  public var closedBytes: ByteCount {
    [growthBytes, bodyFilesBytes].reduce(databaseBytes) { $0 + $1 }
  }
}
