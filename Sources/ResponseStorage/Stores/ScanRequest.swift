/// What a scan decodes, and how it passes responses to tallies.
public struct ScanRequest: Hashable, Sendable {
  /// What to decode of each response that a tally receives.
  public var projection: Projection

  /// What to decode of each response for ``ResponseTally/choose(_:)``; `nil` for ``projection``.
  ///
  /// If the source can read this cheaply, it decodes the rest only for chosen responses.
  public var choosing: Projection?

  /// The order of the tallies.
  public var order: ScanOrder

  /// The total length of property lists, in bytes, after which a tally is passed on even if it is not full. A
  /// source that one thread reads may ignore it.
  public var byteLimit: Int

  /// Creates a request.
  public init(
    _ projection: Projection, choosing: Projection? = nil, in order: ScanOrder,
    byteLimit: Int = .max
  ) {
    self.projection = projection
    self.choosing = choosing
    self.order = order
    self.byteLimit = byteLimit
  }
}

/// The number and order of the tallies that a scan creates.
public enum ScanOrder: Sendable {
  /// Many small tallies, in the order of the responses.
  case ascending
  /// One tally for each thread, and another when one is full: each has any of the responses, in their order.
  case any
}
