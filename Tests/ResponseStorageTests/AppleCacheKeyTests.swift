import Bytes
import Foundation
import ResponseStorage
import Testing

@Suite struct AppleCacheKeyTests {
  @Test(
    arguments: [
      ("https://a.example/x?a=[1]|2", nil, "https://a.example/x?a=%5B1%5D%7C2"),
      ("https://a.example/x?a=1/", nil, "https://a.example/x?a=1"),
      ("https://a.example/x/", nil, "https://a.example/x/"),
      ("https://a.example/#a#b", nil, "https://a.example/#a#b"),
      ("http://[::1]:8080/[", nil, "http://[::1]:8080/%5B"),
      ("https://a.example/ä b", "b.example", "https://a.example/%C3%A4%20b[b.example]"),
      ("no url", nil, "no%20url"), ("", nil, ""),
    ] as [(ByteString, ByteString?, ByteString)])
  func `a key is the escaped URL`(
    url: ByteString, partition: ByteString?, key: ByteString
  ) {
    #expect(AppleCacheKey(of: url, partition: partition).text == key)
  }

  private static let samples = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../../shared/samples/cachedb").standardizedFileURL

  /// The expected values are the keys that CFNetwork stored.
  @Test func `keys match those of real caches`() throws {
    let schemas = ["schema-202", "schema-203"]
    let all = (try? FileManager.default.contentsOfDirectory(atPath: Self.samples.path())) ?? []
    let names = all.filter { name in schemas.contains { name.hasPrefix($0) } }
    guard !names.isEmpty else { return print("no real caches at \(Self.samples.path())") }
    var (same, other) = (0, [String]())
    for name in names.sorted() {
      let source = try StoreOpening(
        path: Self.samples.appending(path: name).path(), wait: 0,
        temporaryFolder: FileManager.default.temporaryDirectory.path(),
        now: try #require(Timestamp(secondsSince2001: 1e9))
      ).open()
      try source.scan(Projection.all) { response in
        guard let key = response.key, let url = response.request.url else { return .next }
        let ours = [response.partition, nil].map { AppleCacheKey(of: url, partition: $0).text }
        if ours.contains(key) { same += 1 } else { other.append("\(key) \(url)") }
        return .next
      }
    }
    #expect(other == [] && same > 100, "\(same) are the same")
  }
}
