@testable import Administration
import Bytes
import ResponseStorage
import TestSupport
import Testing

@Suite struct EqualURLsTests {
  /// A group, as it is found by comparing each entry with all others.
  private struct Group: Equatable {
    var id: StoredResponse.ID
    var url: ByteString
    var entries: Int64
    var bytes: ByteCount
    var largest: ByteCount
    var hasShortURL: Bool
  }

  /// An entry; the text before the `?` of its URL is the shortened URL.
  private struct Entry {
    var id: StoredResponse.ID
    var url: ByteString
    var size: ByteCount

    var short: ByteString? {
      let parts = url.bytes.split(separator: UInt8(ascii: "?"), maxSplits: 1)
      return parts.count == 2 ? ByteString(Array(parts[0])) : nil
    }
  }

  private static func groups(of entries: [Entry]) -> [Group] {
    var groups: [Group] = []
    for (place, entry) in entries.enumerated() {
      guard let short = entry.short, !entries[..<place].contains(where: { $0.short == short })
      else { continue }
      let equal = entries.filter { $0.short == short }
      let hasShortURL = entries.contains { $0.url == short }
      guard equal.count > 1 || hasShortURL else { continue }
      groups.append(
        Group(
          id: entry.id, url: entry.url, entries: Int64(equal.count),
          bytes: equal.reduce(0) { $0 + $1.size }, largest: equal.map(\.size).max() ?? 0,
          hasShortURL: hasShortURL))
    }
    return groups
  }

  @Test(arguments: [0, 1, 5, 40, 400])
  func `groups are those that a comparison of all entries finds`(count: Int) throws {
    var random = SplitMix64(seed: UInt64(count))
    let entries = (0..<count).map { number in
      let host = Int.random(in: 0...(count / 3), using: &random)
      let part = Bool.random(using: &random) ? "?\(number % 5)" : ""
      return Entry(
        id: .row(Int64(number) + 1), url: ByteString("https://\(host).example/\(part)"),
        size: ByteCount(Int64.random(in: 0...99, using: &random)))
    }
    var urls = EqualURLs()
    for entry in entries {
      if let short = entry.short {
        try urls.insert(short, of: entry.url, entry.id, size: entry.size)
      } else {
        try urls.insert(entry.url)
      }
    }
    var found: [Group] = []
    try urls.removeAll {
      found.append(
        Group(
          id: $0.id, url: $0.url, entries: $0.entries, bytes: $0.bytes, largest: $0.largest,
          hasShortURL: $0.hasShortURL))
    }
    #expect(found == Self.groups(of: entries))
    #expect(count < 40 || !found.isEmpty)
  }
}
