/// A number of bytes, such as a size on disk.
///
/// A cache can claim any size for its files, and such sizes are added up. So arithmetic saturates: a result that no
/// number can hold is the nearest one that there is, ``max`` or ``min``, and nothing traps.
///
/// A count can be negative, as the difference between two sizes can be: a database gets shorter by what a log
/// drops, and a cache can be below its limit. Where only a size makes sense, write `max(0, limit - size)`.
///
/// Counts are not added to plain integers, so a number of entries or a row does not become a size by
/// mistake; literals are counts where one is expected.
@frozen
public struct ByteCount: Hashable, Comparable, Sendable {
  /// The number, for texts, files and databases. Calculate with counts, not with this.
  public let bytes: Int64

  /// Creates a count of so many bytes.
  @inlinable
  public init(_ bytes: Int64) { self.bytes = bytes }

  /// Creates a count of so many bytes, such as the length of an array.
  @inlinable
  public init(_ bytes: Int) { self.bytes = Int64(bytes) }

  /// Creates a count of so many bytes, or the nearest count that there is.
  @inlinable
  public init(_ bytes: some BinaryInteger) { self.bytes = Int64(clamping: bytes) }

  /// The largest count, which stands for all that are larger.
  @inlinable
  public static var max: Self { Self(Int64.max) }

  /// The smallest count, which is negative and stands for all that are smaller.
  @inlinable
  public static var min: Self { Self(Int64.min) }

  @inlinable
  public static func < (one: Self, other: Self) -> Bool { one.bytes < other.bytes }
}

extension ByteCount: ExpressibleByIntegerLiteral {
  @inlinable
  public init(integerLiteral bytes: Int64) { self.bytes = bytes }
}

extension ByteCount: CustomStringConvertible {
  /// The number, without a unit: what machines read. `Rendering` has the words for people.
  public var description: String { String(bytes) }
}

extension Double {
  /// The number of bytes, rounded if it is beyond 2⁵³: for shares and estimates.
  @inlinable
  public init(_ count: ByteCount) { self.init(count.bytes) }
}

/// Saturating arithmetic.
extension ByteCount {
  /// The sum, or the nearest count that there is.
  @inlinable
  public static func + (one: Self, other: Self) -> Self {
    let (sum, overflow) = one.bytes.addingReportingOverflow(other.bytes)
    return overflow ? limit(isNegative: other < 0) : Self(sum)
  }

  /// The difference, or the nearest count that there is.
  @inlinable
  public static func - (one: Self, other: Self) -> Self {
    let (difference, overflow) = one.bytes.subtractingReportingOverflow(other.bytes)
    return overflow ? limit(isNegative: other > 0) : Self(difference)
  }

  /// The product with a number, or the nearest count that there is.
  @inlinable
  public static func * (count: Self, factor: Int) -> Self {
    let (product, overflow) = count.bytes.multipliedReportingOverflow(by: Int64(factor))
    return overflow ? limit(isNegative: (count < 0) != (factor < 0)) : Self(product)
  }

  /// The quotient, rounded towards zero; by zero, the limit with the sign of the count.
  @inlinable
  public static func / (count: Self, divisor: Int) -> Self {
    let (quotient, overflow) = count.bytes.dividedReportingOverflow(by: Int64(divisor))
    return overflow ? limit(isNegative: (count < 0) != (divisor < 0)) : Self(quotient)
  }

  /// The count with the other sign: ``max`` for ``min``.
  @inlinable
  public static prefix func - (count: Self) -> Self { 0 - count }

  /// Adds a count; the result is the nearest that there is.
  @inlinable
  public static func += (one: inout Self, other: Self) { one = one + other }

  /// Subtracts a count; the result is the nearest that there is.
  @inlinable
  public static func -= (one: inout Self, other: Self) { one = one - other }

  /// What stands for all results beyond it.
  @inlinable
  static func limit(isNegative: Bool) -> Self { isNegative ? .min : .max }
}
