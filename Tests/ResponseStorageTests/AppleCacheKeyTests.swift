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

  private static let tests = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent()
  private static let samples = tests.appending(path: "../../shared/samples/cachedb")
    .standardizedFileURL

  private static var hasSamples: Bool {
    FileManager.default.fileExists(atPath: samples.path())
  }

  /// The expected values are the keys that CFNetwork stored.
  @Test(.enabled(if: hasSamples, "no samples at '../shared/samples': not here"))
  func `keys match those of real caches`() throws {
    try compare(Self.samples)
  }

  /// The expected values are the keys of another implementation of the same rules.
  @Test func `keys match those of made caches`() throws {
    let temporary = try Folder()
    let folder = URL(filePath: temporary.path).appending(path: "made")
    let maker = Self.tests.appending(path: "Acceptance/support/apple_systems.py").path()
    _ = try Tool.output("python3", maker, folder.path())
    try withExtendedLifetime(temporary) { try compare(folder) }
  }

  /// Compares the keys of the newest schemas; only older ones have the bodies of requests in keys.
  private func compare(_ folder: URL) throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path())
    var (same, other) = (0, [String]())
    for name in names.sorted() where name.hasPrefix("schema-202") || name.hasPrefix("schema-203") {
      let source = try StoreOpening(
        path: folder.appending(path: name).path(), wait: 0,
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
