public import Fetching

/// A transport for where nothing is asked.
public struct NoTransport: Transport {
  /// Creates it.
  public init() {}

  public func send(_ request: FetchRequest, as number: UInt32) {}

  public func cancel(_ number: UInt32) {}

  public func receive(milliseconds: Int64) -> (number: UInt32, event: FetchEvent)? { nil }
}
