public import Bytes

/// What responses from elsewhere are to be put into: a store as it is, or one that is yet to be made.
public protocol ResponseTarget {
  /// Tells what becomes of a response that is put in.
  ///
  /// - Throws: ``AdmissionRefusal`` if the store cannot have it, or ``StoreError``.
  func admit(_ response: RawResponse) throws -> AdmittedResponse

  /// Returns the response that is there under a key, or `nil` if there is none.
  ///
  /// - Parameter key: ``AdmittedResponse/key``.
  func standingResponse(forKey key: ByteString) throws -> StandingResponse?

  /// Returns the response of a number if it has no key, or `nil` if there is none.
  func standingResponse(withoutKey number: Int64) throws -> StandingResponse?
}

/// A response from elsewhere as a store would hold it.
public struct AdmittedResponse {
  /// What the store would look it up by; `nil` of what has no key, and is not looked up.
  public var key: ByteString?
  /// The response as the store would give it back, but for its number.
  public var kept: RawResponse
  /// What is lost on the way, in the order of the cases.
  public var losses: [ResponseLoss]

  /// Creates an admitted response.
  public init(key: ByteString?, kept: RawResponse, losses: [ResponseLoss] = []) {
    self.key = key
    self.kept = kept
    self.losses = losses
  }
}

/// A response that a store has under a key.
public struct StandingResponse {
  /// The response.
  public var raw: RawResponse
  /// What it takes to replace it.
  public var version: ResponseVersion
  /// Whether there are older ones of its key, which do not count, and go when it is replaced.
  public var hasOlder = false

  /// Creates a standing response.
  public init(raw: RawResponse, version: ResponseVersion) {
    self.raw = raw
    self.version = version
  }
}

/// A store cannot have a response.
public struct AdmissionRefusal: Error, Hashable, Sendable {
  /// Why: a clause.
  public var reason: String

  /// Creates a refusal.
  public init(_ reason: String) {
    self.reason = reason
  }
}
