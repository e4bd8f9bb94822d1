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

  public func admit(_ response: RawResponse) throws -> AdmittedResponse {
    switch self {
    case .apple: try AppleSchema.admit(response)
    case .foundation: try FoundationEntry.admit(response)
    }
  }

  /// Returns `nil`: there is nothing yet.
  public func standingResponse(forKey key: ByteString) -> StandingResponse? { nil }

  /// Makes the empty store, and opens it for changing.
  ///
  /// - Parameter opening: Where: a folder, which is made unless it is there.
  /// - Throws: ``StoreError``, also if there is a store already.
  public func create(_ opening: StoreOpening) throws -> any ResponseStore {
    switch self {
    case .apple(let schema):
      try AppleStoreWriter(creating: opening.path, schema: schema).finish()
      return try opening.openForChanging(verifying: false)
    case .foundation:
      _ = try FoundationStoreWriter(creating: opening.path)
      let store = try FoundationStoreEditor(changing: opening.path)
      // URLCache takes any folder, and a user may have meant another.
      guard try !store.files.hasOthers() else {
        throw StoreError(.inputOutput, at: opening.path, because: "it holds other files")
      }
      return store
    }
  }
}
