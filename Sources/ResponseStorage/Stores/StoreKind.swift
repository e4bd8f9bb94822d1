import Files

/// A kind of store: how it is recognized and opened.
protocol StoreKind: StoreSource, SendableMetatype {
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

  /// Returns what shows, without opening the store, that it may have changed.
  static func mark(at path: String) throws(StoreError) -> StoreMark

  /// Whether each entry is a file in the folder of the store.
  static var entriesAreFiles: Bool { get }

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

  static func mark(at path: String) throws(StoreError) -> StoreMark {
    do throws(FileError) {
      return StoreMark(of: try FileStatus.of(path), header: [], counter: nil)
    } catch {
      throw StoreError(error, path: path)
    }
  }

  static var entriesAreFiles: Bool { false }

  static func isEntry(_ name: [UInt8]) -> Bool { false }
}
