#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The system's clocks and time zone.
public enum LocalTime {
  /// Returns the system time, in seconds since 1970-01-01 00:00:00 UTC.
  public static func now() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// Returns milliseconds since an arbitrary time, from a monotonic clock.
  public static func steadyMilliseconds() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// Returns the day of a moment in the system's time zone.
  ///
  /// - Parameter second: Seconds since 1970-01-01 00:00:00 UTC.
  /// - Returns: The day; `nil` if the system cannot compute it.
  public static func day(ofSecond second: Int64) -> (year: Int64, month: Int64, day: Int64)? {
    var time = time_t(second)
    var parts = unsafe tm()
    guard unsafe localtime_r(&time, &parts) != nil else { return nil }
    return unsafe (
      Int64(parts.tm_year) + 1_900, Int64(parts.tm_mon) + 1, Int64(parts.tm_mday)
    )
  }

  /// Returns the first second of a day in the system's time zone, with the UTC offset at that time.
  ///
  /// - Returns: Seconds since 1970-01-01 00:00:00 UTC, and the offset in seconds east of UTC; `nil` if the
  ///   system cannot compute them.
  public static func midnight(year: Int64, month: Int64, day: Int64) -> (
    seconds: Int64, offset: Int64
  )? {
    var parts = unsafe tm()
    unsafe parts.tm_year = Int32(truncatingIfNeeded: year - 1_900)
    unsafe parts.tm_mon = Int32(truncatingIfNeeded: month - 1)
    unsafe parts.tm_mday = Int32(truncatingIfNeeded: day)
    // Let the system determine whether daylight saving time applies.
    unsafe parts.tm_isdst = -1
    let time = unsafe mktime(&parts)
    // -1 is also a second before 1970, which is no midnight in any zone.
    guard time != -1 else { return nil }
    return unsafe (Int64(time), Int64(parts.tm_gmtoff))
  }
}
