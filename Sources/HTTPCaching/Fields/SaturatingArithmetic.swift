/// Arithmetic with seconds; sizes are a `ByteCount`.
extension Int64 {
  /// The sum, or the limit that it is beyond: an age never wraps around (RFC 9111 §1.2.2).
  public func saturatingAdding(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  /// The difference, or the limit that it is beyond (RFC 9111 §1.2.2).
  public func saturatingSubtracting(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }
}
