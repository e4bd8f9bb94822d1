/// The URL of a sample response, and its cache key.
struct SampleURL {
  /// The URL as in the property lists.
  let url: String

  /// The cache key.
  let key: String

  /// The cache partition.
  let partition: String?

  /// Creates a random URL that is unique for each `number`.
  init(
    host: String, kind: MediaKind, number: Int, using generator: inout SplitMix64
  ) {
    // Multiplying by an odd number scatters the 32 bits without collisions.
    let name = UInt64(UInt32(truncatingIfNeeded: number) &* 2_654_435_761).hexadecimal(8)
    let scheme = generator.chance(inThousand: 40) ? "http" : "https"
    let path = "\(kind.pathPrefix)\(name)\(kind.pathSuffix)"
    let separator = path.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
    var url = "\(scheme)://\(host)\(path)"
    var key: String?
    if generator.chance(inThousand: 300) {
      url += "\(separator)locale=en&width=\(320 * (1 + generator.below(6)))"
    } else if generator.chance(inThousand: 15) {
      switch generator.below(8) {
      case 0: url += "\(separator)q=caf%C3%A9%20%26%20bar"
      case 1: url += "#section-\(generator.below(9))"
      // These cases are the URLs that go wrong in practice: credentials, path traversal, escape
      // sequences of terminals, overlong names, and hosts outside ASCII.
      case 2: url = "\(scheme)://alice%40mail.example:secret@\(host)\(path)"
      case 3: url += "\(separator)next=/../../etc/passwd%00"
      case 4: url += "\(separator)title=%1B%5B31mred%1B%5B0m%0A%E2%80%AE"
      case 5: url += "\(separator)long=\(String(repeating: "abcdefghij", count: 150))"
      case 6: url = "\(scheme)://b%C3%BCcher.\(host):8443\(path)"
      default:
        // The key percent-escapes characters that the URL contains raw (`apple-cache.md`, "Key").
        key = "\(url)\(separator)filter%5B0%5D=a%7Cb"
        url += "\(separator)filter[0]=a|b"
      }
    }
    if generator.chance(inThousand: 4) {
      let site = generator.pick(["news.example", "shop.example"])
      // CFNetwork appends the partition to the key in brackets.
      partition = site
      self.key = "\(key ?? url)[\(site)]"
    } else {
      partition = nil
      self.key = key ?? url
    }
    self.url = url
  }
}

/// The sample hosts, all below the reserved domain `example` (RFC 2606 §2).
struct Sites {
  /// The hosts, most frequent first.
  static let hosts: [String] =
    [
      "api.news.example", "cdn.shop.example", "images.photos.example", "static.video.example",
      "www.weather.example", "maps.travel.example", "config.device.example", "store.apps.example",
    ]
    + ["music", "mail", "forum", "sports", "wiki", "bank", "radio", "recipes"].flatMap {
      ["\($0).example", "api.\($0).example", "cdn.\($0).example", "img.\($0).example"]
    } + ["xn--bcher-kva.example"]

  private let cumulativeWeights: [Double]

  /// Creates the hosts, with frequencies that follow Zipf's law.
  init() {
    var sum = 0.0
    cumulativeWeights = Self.hosts.indices.map { rank in
      sum += 1 / Double(rank + 1)
      return sum
    }
  }

  /// Returns the index of a random host.
  func pick(using generator: inout SplitMix64) -> Int {
    let point = generator.unit() * (cumulativeWeights.last ?? 0)
    return cumulativeWeights.firstIndex { point < $0 } ?? 0
  }
}
