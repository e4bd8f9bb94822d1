import Bytes
import ResponseStorage

/// The header fields of a sample response.
struct ResponseHeaders {
  /// The properties of a response that determine its header fields.
  struct Traits {
    let status: Int64
    let kind: MediaKind
    let bodySize: Int
    let stored: Timestamp
    let location: String?
  }

  /// The fields.
  private(set) var fields: [HeaderFields.Field] = []

  /// Whether the body was compressed in transit.
  private(set) var isCompressed = false

  /// The value of `Vary`.
  private(set) var vary: ByteString?

  /// Creates random header fields.
  ///
  /// - Parameter few: Whether to create only the fields that decide how long a response is fresh.
  init(_ traits: Traits, few: Bool, using generator: inout SplitMix64) {
    if few {
      let date = Self.moment(traits.stored, minus: 0.4)
      add("Date", HTTPDate.text(of: date))
      addFreshness(from: date, using: &generator)
      return
    }
    fields.reserveCapacity(18)
    let age = generator.chance(inThousand: 300) ? generator.below(4_000) : nil
    let date = Self.moment(traits.stored, minus: Double(age ?? 0) + 0.4)
    add("Content-Type", traits.kind.contentType)
    addLength(traits, using: &generator)
    if generator.chance(inThousand: 300) { add("Connection", "keep-alive") }
    if generator.chance(inThousand: 700) { add("Server", generator.pick(Self.servers)) }
    // A few have no `Date`, so that ages without it are exercised as well (RFC 9110 §6.6.1).
    if !generator.chance(inThousand: 8) { add("Date", HTTPDate.text(of: date)) }
    if let location = traits.location { add("Location", location) }
    addFreshness(from: date, using: &generator)
    addValidators(before: date, using: &generator)
    if let age {
      add("Age", "\(age)")
      add("Via", "1.1 edge\(generator.below(40)).cdn.example (Sample)")
      if generator.chance(inThousand: 500) { add("Via", "1.1 varnish") }
      add("X-Cache", "HIT")
    }
    addVary(using: &generator)
    addSecrets(from: date, using: &generator)
    addOrnaments(using: &generator)
  }

  private mutating func addLength(_ traits: Traits, using generator: inout SplitMix64) {
    isCompressed = traits.kind.isCompressible && generator.chance(inThousand: 700)
    if isCompressed {
      add("Content-Encoding", generator.chance(inThousand: 800) ? "gzip" : "br")
      // The length on the wire, while the stored body is decoded: a check of completeness that
      // compares the two would find every compressed entry too long.
      add("Content-Length", "\(traits.bodySize / 3 + 20)")
    } else if generator.chance(inThousand: 900) {
      add("Content-Length", "\(traits.bodySize)")
    } else {
      add("Transfer-Encoding", "chunked")
    }
  }

  private mutating func addFreshness(from date: Timestamp, using generator: inout SplitMix64) {
    let lifetime = generator.pick(Self.lifetimes)
    switch generator.below(100) {
    case 0..<52:
      add("Cache-Control", "\(generator.pick(["", "public, "]))max-age=\(lifetime)")
      if generator.chance(inThousand: 300) { addExpiry(Double(lifetime), after: date) }
    case 52..<62: add("Cache-Control", "max-age=\(lifetime), must-revalidate")
    case 62..<67: add("Cache-Control", "public, max-age=31536000, immutable")
    case 67..<72: add("Cache-Control", "max-age=\(lifetime), stale-while-revalidate=86400")
    case 72..<78: add("Cache-Control", "private, max-age=\(lifetime)")
    case 78..<85: add("Cache-Control", "no-cache")
    // Findings warn about such entries, which should not have been stored.
    case 85..<88: add("Cache-Control", "no-store")
    case 88..<94: addExpiry(Double(lifetime), after: date)
    // No dates, but common. A cache must take them for a time in the past (RFC 9111 §5.3).
    case 94: add("Expires", generator.pick(["0", "-1"]))
    default: break
    }
  }

  private mutating func addExpiry(_ seconds: Double, after date: Timestamp) {
    add("Expires", HTTPDate.text(of: Self.moment(date, minus: -seconds)))
  }

  private mutating func addValidators(before date: Timestamp, using generator: inout SplitMix64) {
    switch generator.below(10) {
    case 0..<4: add("ETag", "\"\(generator.next().hexadecimal(16))\"")
    case 4..<6: add("ETag", "W/\"\(generator.next().hexadecimal(10))\"")
    default: break
    }
    if generator.chance(inThousand: 600) {
      let ago = Double(generator.below(400 * 86_400))
      add("Last-Modified", HTTPDate.text(of: Self.moment(date, minus: ago)))
    }
  }

  private mutating func addVary(using generator: inout SplitMix64) {
    guard generator.chance(inThousand: 350) else { return }
    let value = generator.pick(Self.varyValues)
    add("Vary", value)
    vary = ByteString(value)
  }

  private mutating func addSecrets(from date: Timestamp, using generator: inout SplitMix64) {
    guard generator.chance(inThousand: 60) else { return }
    add("Set-Cookie", "session=\(generator.next().hexadecimal(16)); Path=/; Secure; HttpOnly")
    if generator.chance(inThousand: 300) {
      let expiry = HTTPDate.text(of: Self.moment(date, minus: -2_592_000))
      add("Set-Cookie", "visits=\(generator.below(90)); Expires=\(expiry)")
    }
  }

  private mutating func addOrnaments(using generator: inout SplitMix64) {
    if generator.chance(inThousand: 300) {
      add("Strict-Transport-Security", "max-age=31536000; includeSubDomains")
    }
    if generator.chance(inThousand: 250) { add("X-Content-Type-Options", "nosniff") }
    if generator.chance(inThousand: 250) { add("Access-Control-Allow-Origin", "*") }
    if generator.chance(inThousand: 400) { add("Accept-Ranges", "bytes") }
    if generator.chance(inThousand: 150) {
      add("X-Request-Id", generator.next().hexadecimal(16))
    }
  }

  private mutating func add(_ name: String, _ value: String) {
    fields.append(.init(name: ByteString(name), value: ByteString(value)))
  }

  /// Returns a time some seconds earlier. Sample times are far from the limits of `Timestamp`.
  private static func moment(_ moment: Timestamp, minus seconds: Double) -> Timestamp {
    Timestamp(secondsSince1970: moment.secondsSince1970 - seconds) ?? moment
  }

  private static let servers = ["Apache", "nginx", "nginx/1.24.0", "Sample", "AmazonS3"]
  private static let lifetimes = [60, 300, 600, 3_600, 3_600, 86_400, 86_400, 604_800, 2_592_000]
  private static let varyValues = [
    "Accept-Encoding", "Accept-Encoding", "Accept-Encoding", "Accept-Encoding",
    "Accept-Encoding, Origin", "Accept, Accept-Encoding", "Accept-Language", "Cookie",
    "Accept-Encoding, User-Agent", "*",
  ]
}

/// Formats dates for header fields.
private enum HTTPDate {
  /// Returns a date as an IMF-fixdate (RFC 9110 §5.6.7).
  static func text(of moment: Timestamp) -> String {
    let time = CivilTime(moment)
    let weekday = weekdays[CivilCalendar.weekday(ofSecond: moment.wholeSeconds)]
    var text: [UInt8] = []
    text.append(time)
    let clock = String(decoding: text.suffix(8), as: UTF8.self)
    let day = String(decoding: text[8..<10], as: UTF8.self)
    return "\(weekday), \(day) \(months[Int(time.month) - 1]) \(time.year) \(clock) GMT"
  }

  private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
}
