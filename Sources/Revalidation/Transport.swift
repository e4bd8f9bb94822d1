public import Fetching

/// What sends requests to origins.
public protocol Transport {
  /// Begins to send a request, which is told from others by its number.
  func send(_ request: FetchRequest, as number: UInt32) throws

  /// Gives a request up; it still fails, or ends.
  func cancel(_ number: UInt32) throws

  /// Waits for what comes next of any request.
  ///
  /// - Returns: What came; `nil` if nothing did in time.
  func receive(milliseconds: Int64) throws -> (number: UInt32, event: FetchEvent)?
}
