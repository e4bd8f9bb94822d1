/// A kind of store: what tells one from other folders, and how it is opened.
protocol StoreKind: ResponseSource, SendableMetatype {
  /// What tells a store of this kind, for people: `a Cache.db`.
  static var mark: String { get }

  /// Whether there seems to be a store of this kind at a path, at which there is something.
  static func isStore(at path: String, isFolder: Bool) throws(StoreError) -> Bool

  /// Opens a store for reading.
  init(_ opening: StoreOpening) throws
}
