import Administration
import TestSupport
import Testing

@Suite struct ConfigurationFileTests {
  @Test func `no file traps, and errors are located within their line`() {
    let pieces = [
      "wait", "max-age", "caches", "path", "shop", "rules", " = ", "\"1s\"", "'/x'", "[", "]", "[[",
      "]]",
      "{", "}", ",", ".", "\n", "\r\n", "#", "é", "\u{202E}", "\u{1B}", "1", "true", "\"",
      "[caches.shop]\n",
      "path = \"~/a\"\n", "max-entries = 1\n",
    ]
    var failures: [UInt64] = []
    for seed in 0..<3_000 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      var bytes = (0..<Int.random(in: 1...14, using: &random)).flatMap { _ in
        Array((pieces.randomElement(using: &random) ?? "").utf8)
      }
      if Bool.random(using: &random) {
        bytes[bytes.count / 2] = UInt8.random(in: 0...255, using: &random)
      }
      let file = ConfigurationFile(bytes, path: "file", home: "/home/a")
      for error in file.errors {
        let place = error.place
        let lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
        if place.line > lines.count || place.column > lines[place.line - 1].count + 1
          || place.range.upperBound > lines[place.line - 1].count
        {
          failures.append(seed)
        }
      }
    }
    #expect(failures == [])
  }

  @Test func `a completely invalid file reports up to a hundred errors`() {
    let lines = (0..<60_000).map { "k\($0) = 1" }.joined(separator: "\n")
    let file = ConfigurationFile(Array(lines.utf8), path: "file", home: nil)
    #expect(file.errors.count == 100)
    #expect(file.errors.last?.place.line == 100)
    let long = ConfigurationFile(
      [UInt8](repeating: UInt8(ascii: "#"), count: (1 << 20) + 1), path: "file", home: nil)
    #expect(long.errors.map(\.reason) == ["the file is larger than 1 MiB"])
  }
}
