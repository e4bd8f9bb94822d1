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
}
