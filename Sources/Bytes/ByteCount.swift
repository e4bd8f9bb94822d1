/// A number of bytes, such as a size on disk.
///
/// A damaged or hostile cache can claim any size for its files, and the sizes are added up. So arithmetic saturates at
/// ``max`` and ``min`` instead of trapping.
///
/// A count can be negative, as a difference of two sizes: a database shrinks, or a cache is below its limit. Where only
/// a size makes sense, write `max(0, limit - size)`.
///
/// A plain integer cannot be added to a count, so a number of entries or a row ID does not become a size by mistake.
/// Literals can.
@frozen
public struct ByteCount: Hashable, Comparable, Sendable {
  /// The plain number, for text, files and databases. Do not calculate with it; calculate with counts.
  public let bytes: Int64

  /// Creates a count.
  @inlinable
  public init(_ bytes: Int64) { self.bytes = bytes }

  /// Creates a count, such as the length of an array.
  @inlinable
  public init(_ bytes: Int) { self.bytes = Int64(bytes) }

  /// Creates a count, clamped to the range of counts.
  // `st_size` and the blocks of `statvfs` have other types on other systems, some of them unsigned.
  @inlinable
  public init(_ bytes: some BinaryInteger) { self.bytes = Int64(clamping: bytes) }

  /// The largest count. Larger results saturate to it.
  @inlinable
  public static var max: Self { Self(Int64.max) }

  /// The smallest count, which is negative. Smaller results saturate to it.
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
  /// The number without a unit, for machines. `Rendering` formats counts for people.
  public var description: String { String(bytes) }
}

extension Double {
  /// Converts a count for shares and estimates; rounded beyond 2⁵³.
  @inlinable
  public init(_ count: ByteCount) { self.init(count.bytes) }
}

/// Saturating arithmetic.
extension ByteCount {
  /// The sum, which saturates.
  @inlinable
  public static func + (one: Self, other: Self) -> Self {
    // A sparse file can be as long as `Int64` allows, so two of them overflow a plain sum, which
    // would end the process.
    let (sum, overflow) = one.bytes.addingReportingOverflow(other.bytes)
    return overflow ? limit(isNegative: other < 0) : Self(sum)
  }

  /// The difference, which saturates.
  @inlinable
  public static func - (one: Self, other: Self) -> Self {
    let (difference, overflow) = one.bytes.subtractingReportingOverflow(other.bytes)
    return overflow ? limit(isNegative: other > 0) : Self(difference)
  }

  /// The product with a number, which saturates.
  @inlinable
  public static func * (count: Self, factor: Int) -> Self {
    let (product, overflow) = count.bytes.multipliedReportingOverflow(by: Int64(factor))
    return overflow ? limit(isNegative: (count < 0) != (factor < 0)) : Self(product)
  }

  /// The quotient, rounded towards zero. Division by zero returns ``max`` or ``min``, by the sign of the count.
  @inlinable
  public static func / (count: Self, divisor: Int) -> Self {
    let (quotient, overflow) = count.bytes.dividedReportingOverflow(by: Int64(divisor))
    return overflow ? limit(isNegative: (count < 0) != (divisor < 0)) : Self(quotient)
  }

  /// The count with the opposite sign; ``max`` for ``min``.
  @inlinable
  public static prefix func - (count: Self) -> Self { 0 - count }

  /// Adds a count, and saturates.
  @inlinable
  public static func += (one: inout Self, other: Self) { one = one + other }

  /// Subtracts a count, and saturates.
  @inlinable
  public static func -= (one: inout Self, other: Self) { one = one - other }

  /// The count to which an overflow saturates.
  @inlinable
  static func limit(isNegative: Bool) -> Self { isNegative ? .min : .max }
}
