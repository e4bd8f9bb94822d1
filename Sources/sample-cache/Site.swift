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
