extension Int64 {
  /// The sum of two numbers, or the nearest number that there is.
  ///
  /// What a store says of sizes is added up so: it can claim any of them, and must not trap us.
  public func addingClamped(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    guard overflow else { return sum }
    return other < 0 ? .min : .max
  }
}
