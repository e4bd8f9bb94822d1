public import Bytes

/// A store that is yet to be made.
public enum NewStore: Hashable, Sendable, ResponseTarget {
  /// An Apple store of a schema.
  case apple(AppleSchema)
  /// A Foundation store.
  case foundation

  /// The format that it will have.
  public var format: StoreDescription.Format {
    switch self {
    case .apple: .apple
    case .foundation: .foundation
    }
  }

  /// The schema that it will have; `nil` of a Foundation store.
  public var schemaVersion: Int64? {
    switch self {
    case .apple(let schema): schema.rawValue
    case .foundation: nil
    }
  }

  /// Creates a new store of the kind that responses come from.
  ///
  /// In the folder that Foundation keeps its stores in it is one of Foundation's, whatever they come from.
  ///
  /// - Parameters:
  ///   - layout: The layout of the store that they come from.
  ///   - folder: The folder that the store will be made in.
  public init(like layout: RawLayout, at folder: String) {
    if layout.format == .foundation || FoundationFolder.isStandard(folder) {
      self = .foundation
    } else {
      self = .apple(Self.schema(like: layout))
    }
  }

  /// The schema of a store that responses come from, or the newest if no store can be made of that one.
  public static func schema(like layout: RawLayout) -> AppleSchema {
    let version = layout.userVersion == 0 ? layout.versionInTable : layout.userVersion
    return version.flatMap { AppleSchema(rawValue: $0) } ?? .version203
  }

  public func admit(_ response: RawResponse) throws -> AdmittedResponse {
    switch self {
    case .apple: try AppleSchema.admit(response)
    case .foundation: try FoundationEntry.admit(response)
    }
  }

  /// Returns `nil`: there is nothing yet.
  public func standingResponse(forKey key: ByteString) -> StandingResponse? { nil }

  /// Returns `nil`: there is nothing yet.
  public func standingResponse(withoutKey number: Int64) -> StandingResponse? { nil }

  /// Makes the empty store, and fills it; if that fails, what was made goes again, and nothing else.
  ///
  /// - Parameters:
  ///   - opening: Where: a folder, which is made unless it is there.
  ///   - fill: Puts responses into the store, or throws before any is in.
  /// - Throws: ``StoreError``, also if there is a store already, or whatever `fill` throws.
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
        // It is closed again before its files go.
        try fill(try opening.openForChanging(verifying: false))
      } catch {
        made.removeDatabase(opening)
        throw error
      }
    case .foundation:
      try made.removingFolders {
        _ = try FoundationStoreWriter(creating: opening.path)
        let store = try FoundationStoreEditor(changing: opening.path)
        // URLCache takes any folder, and a user may have meant another.
        guard try !store.files.hasOthers() else {
          throw StoreError(.inputOutput, at: opening.path, because: "it holds other files")
        }
        try fill(store)
      }
    }
  }
}
