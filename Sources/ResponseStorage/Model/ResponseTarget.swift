public import Bytes

/// A target for responses: an existing store, or one that is to be created.
public protocol ResponseTarget {
  /// Returns what the store keeps of a response that is inserted.
  ///
  /// - Throws: ``AdmissionRefusal`` if the store cannot keep it, or ``StoreError``.
  func admit(_ response: RawResponse) throws -> AdmittedResponse

  /// Returns the response with this key that the store already has, or `nil` if there is none.
  ///
  /// - Parameter key: ``AdmittedResponse/key``.
  func standingResponse(forKey key: ByteString) throws -> StandingResponse?

  /// Returns the response with this id if it has no key, or `nil` if there is none.
  func standingResponse(withoutKey number: Int64) throws -> StandingResponse?
}

/// A response as a store would keep it.
public struct AdmittedResponse {
  /// The key in the store; `nil` if the response has none, so that no lookup finds it.
  public var key: ByteString?
  /// The response as the store would return it, except for its id.
  public var kept: RawResponse
  /// The parts that the store cannot keep, in the order of the cases.
  public var losses: [ResponseLoss]

  /// Creates an admitted response.
  public init(key: ByteString?, kept: RawResponse, losses: [ResponseLoss] = []) {
    self.key = key
    self.kept = kept
    self.losses = losses
  }
}

/// A response that a store already has for a key.
public struct StandingResponse {
  /// The response.
  public var raw: RawResponse
  /// The version that must be given to replace it.
  public var version: ResponseVersion
  /// Whether there are older responses with its key, which are ignored, and removed when it is replaced.
  public var hasOlder = false

  /// Creates a standing response.
  public init(raw: RawResponse, version: ResponseVersion) {
    self.raw = raw
    self.version = version
  }
}

/// The error that a store cannot keep a response.
public struct AdmissionRefusal: Error, Hashable, Sendable {
  /// The reason: a clause.
  public var reason: String

  /// Creates a refusal.
  public init(_ reason: String) {
    self.reason = reason
  }
}
