/// Arithmetic with seconds. For sizes, use `ByteCount`.
extension Int64 {
  /// The sum, clamped to the range of `Int64`: an age never wraps around (RFC 9111 §1.2.2).
  public func saturatingAdding(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  /// The difference, clamped to the range of `Int64` (RFC 9111 §1.2.2).
  public func saturatingSubtracting(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }
}
