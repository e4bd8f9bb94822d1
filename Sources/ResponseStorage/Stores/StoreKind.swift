/// A kind of store: what tells one from other folders, and how it is opened.
protocol StoreKind: StoreSource, SendableMetatype {
  /// What tells a store of this kind, for people: `a Cache.db`.
  static var mark: String { get }

  /// Whether there seems to be a store of this kind at a path, at which there is something.
  static func isStore(at path: String, isFolder: Bool) throws(StoreError) -> Bool

  /// Opens a store for reading.
  init(_ opening: StoreOpening) throws

  /// Opens a store for changing, and has it checked before if `verifying` is true.
  ///
  /// - Throws: ``StoreError``, `unsupported` if stores of this kind can only be read.
  static func changing(
    _ opening: StoreOpening, verifying: Bool
  ) throws(StoreError) -> any IntentStore

  /// The folder that intents of the store at a path are about; `nil` if there is none.
  static func intentPlace(at path: String) -> Intent.Place?
}

extension StoreKind {
  static func changing(
    _ opening: StoreOpening, verifying: Bool
  ) throws(StoreError) -> any IntentStore {
    throw StoreError(
      .unsupported, at: opening.path,
      because: "this version does not change caches of its format")
  }

  static func intentPlace(at path: String) -> Intent.Place? { nil }
}
