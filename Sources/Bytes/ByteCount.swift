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

extension OutputSpan<UInt8> {
  /// Appends a number in decimal, at most 20 bytes.
  @inlinable
  public mutating func append(decimal value: Int64) {
    if value < 0 { append(UInt8(ascii: "-")) }
    append(decimal: value.magnitude)
  }

  /// Appends a number in decimal, at most 20 bytes.
  @inlinable
  public mutating func append(decimal value: UInt64) {
    if value >= 100 { append(decimal: value / 100) }
    if value >= 10 {
      append(twoDigitsOf: value)
    } else {
      append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value))
    }
  }

  /// Appends the last two digits of a number, with leading zeros.
  @inlinable
  public mutating func append(twoDigitsOf value: UInt64) {
    let value = UInt8(truncatingIfNeeded: value % 100)
    append(UInt8(ascii: "0") + value / 10)
    append(UInt8(ascii: "0") + value % 10)
  }
}

/// An age limit, measured back from a moment, that divides times into older and younger ones.
///
/// All age comparisons use this type, so that `purge --older-than 7d`, `enforce --max-age 7d` and a rule with
/// `expire-after = "7d"` select the same entries. An age equal to the limit is neither older nor younger.
@frozen
public struct AgeLimit: Hashable, Sendable {
  /// The moment at which the limit is reached: ``Timestamp/earliest`` if the limit goes back further, so that nothing
  /// is older.
  public let cutoff: Timestamp

  /// Creates a limit.
  ///
  /// - Parameters:
  ///   - seconds: The age in seconds, not less than zero.
  ///   - now: The moment from which ages are measured.
  @inlinable
  public init(_ seconds: Double, at now: Timestamp) {
    // The limit is turned into a moment once, so that a comparison is the same for every entry:
    // subtracting the time of each entry instead would round differently.
    cutoff = Timestamp(secondsSince1970: now.secondsSince1970 - seconds) ?? .earliest
  }

  /// Whether a time is older than the limit.
  @inlinable
  public func isExceeded(by time: Timestamp) -> Bool { time < cutoff }

  /// Whether a time is younger than the limit. A time in the future always is.
  // This is not the opposite of the function above: a time at the limit is neither, so that no
  // option and its counterpart select an entry twice.
  @inlinable
  public func isNotReached(by time: Timestamp) -> Bool { time > cutoff }
}

extension Timestamp {
  /// The age of this time at another, in seconds; negative if this time is later.
  @inlinable
  public func age(at now: Timestamp) -> Double { now.secondsSince1970 - secondsSince1970 }
}
