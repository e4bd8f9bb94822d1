/// How a source is to have its responses taken in by tallies.
public struct ScanRequest: Hashable, Sendable {
  /// What to decode of each response that a tally takes in.
  public var projection: Projection

  /// What to decode of each response for ``ResponseTally/choose(_:)``; `nil` for ``projection``.
  ///
  /// A source that finds this with little work decodes nothing else of what is not chosen.
  public var choosing: Projection?

  /// The order of the tallies.
  public var order: ScanOrder

  /// The length of all property lists, in bytes, after which a tally is handed over, full or not; a source that is read by
  /// one thread may take no notice of it.
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

/// Which tallies a scan makes.
public enum ScanOrder: Sendable {
  /// Many small ones, in the order of the responses.
  case ascending
  /// As few as there are threads, or as become full: each holds any of the responses, in their order.
  case any
}
