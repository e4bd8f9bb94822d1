public import Fetching

/// A transport for runs that send no requests.
public struct NoTransport: Transport {
  /// Creates the transport.
  public init() {}

  public func send(_ request: FetchRequest, as number: UInt32) {}

  public func cancel(_ number: UInt32) {}

  public func receive(milliseconds: Int64) -> (number: UInt32, event: FetchEvent)? { nil }
}
