import HTTPCaching

/// Sample messages. The time is 09:10:07 on 9 October 2025, on every clock.
enum Sample {
  /// Thu, 09 Oct 2025 09:10:07 GMT.
  static let now: Int64 = 1_760_001_007

  /// Returns the date `offset` seconds after ``now``, in HTTP format.
  static func date(_ offset: Int64 = 0) -> String { httpDate(now + offset) }

  /// Returns a header section from lines such as `Age: 5`.
  static func fields(_ lines: String...) -> FieldSection { fields(lines) }

  static func fields(_ lines: [String]) -> FieldSection {
    FieldSection(
      lines.map { line in
        let parts = line.utf8.split(
          separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        return FieldLine(name: Array(parts[0]), value: Array(parts[1].drop { $0 == 0x20 }))
      })
  }

  /// Returns a response to `GET` that was received at ``now``.
  static func response(
    _ lines: String..., status: Int64? = 200, request: Request? = Request(),
    requestTime: Int64? = nil, receivedAt: Int64 = now, varyRecord: FieldSection? = nil,
    bodyBytes: Int64? = nil
  ) -> Exchange {
    Exchange(
      request: request, status: status, fields: fields(lines), requestTime: requestTime,
      responseTime: receivedAt, varyRecord: varyRecord, bodyBytes: bodyBytes)
  }

  /// Returns a `GET` request with header lines.
  static func request(_ lines: String...) -> Request { Request(fields: fields(lines)) }
}

/// Returns a time in the format of RFC 9110 §5.6.7. The arithmetic is independent of the tested code.
func httpDate(_ seconds: Int64) -> String {
  let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  let names = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
  var days = (seconds - (seconds % 86_400 + 86_400) % 86_400) / 86_400
  let time = seconds - days * 86_400
  let weekday = weekdays[Int((days % 7 + 7) % 7)]
  var year = 1970
  func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }
  while days < 0 {
    year -= 1
    days += isLeap(year) ? 366 : 365
  }
  while days >= (isLeap(year) ? 366 : 365) {
    days -= isLeap(year) ? 366 : 365
    year += 1
  }
  var month = 0
  func length(_ month: Int) -> Int64 {
    month == 1 ? isLeap(year) ? 29 : 28 : [3, 5, 8, 10].contains(month) ? 30 : 31
  }
  while days >= length(month) {
    days -= length(month)
    month += 1
  }
  func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
  let clock = "\(two(time / 3_600)):\(two(time / 60 % 60)):\(two(time % 60))"
  return "\(weekday), \(two(days + 1)) \(names[month]) \(year) \(clock) GMT"
}

/// Returns a text as UTF-8.
func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// Returns bytes as text.
func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

/// A random number generator with the same sequence in every run: SplitMix64.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
