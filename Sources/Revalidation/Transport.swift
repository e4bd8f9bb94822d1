public import Fetching

// A protocol, so that the module that decides about caches links no networking, and tests need no
// server.
/// A type that sends requests to origin servers.
public protocol Transport {
  /// Starts a request, identified by its number.
  func send(_ request: FetchRequest, as number: UInt32) throws

  /// Cancels a request; it still fails or finishes.
  func cancel(_ number: UInt32) throws

  /// Waits for the next event of any request.
  ///
  /// - Returns: The event; `nil` after a timeout.
  func receive(milliseconds: Int64) throws -> (number: UInt32, event: FetchEvent)?
}

/// A transport for runs that send no requests.
public struct NoTransport: Transport {
  /// Creates the transport.
  public init() {}

  public func send(_ request: FetchRequest, as number: UInt32) {}

  public func cancel(_ number: UInt32) {}

  public func receive(milliseconds: Int64) -> (number: UInt32, event: FetchEvent)? { nil }
}
