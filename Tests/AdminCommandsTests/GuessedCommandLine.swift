import Bytes
import ResponseStorage
import TestSupport
import Testing

/// Runs command lines for a cache with three entries, which has several names.
enum GuessedCommandLine {
  private static let configuration = """
    [caches.shop]
    path = "/shop"
    [caches.3]
    path = "/three"
    [caches.Sources]
    path = "/other"
    """

  static func now() throws -> Timestamp {
    // 2026-01-01T00:00:00Z
    try #require(Timestamp(secondsSince1970: 1_767_225_600))
  }

  static func run(_ words: [String]) throws -> CommandLineResult {
    var store = MemoryStore(
      try (1...3).map { (id: Int64) in
        var response = StoredResponse(id: .row(id))
        response.url = ByteString("https://a.example/\(id)")
        response.key = response.url
        response.status = id == 3 ? 404 : 200
        response.mimeType = id == 3 ? "text/html" : "image/png"
        response.bodySize = ByteCount(id * 1_000)
        response.bodyLocation = .inline
        response.stored = Timestamp(
          secondsSince1970: try now().secondsSince1970 - Double(id) * 20 * 86_400)
        return response
      })
    store.bodies = [.row(1): [0x61], .row(2): [0x62], .row(3): [0x63]]
    return CommandLineResult.running(
      words, on: store, now: try now(),
      files: ["/etc/urlcache-admin/config.toml": configuration])
  }

  /// Returns the words of the command lines in a hint: each is in quotes, or ends at a `;`, a `>` or the end.
  ///
  /// What stands for a cache, an entry or an archive becomes one, and a file to write becomes standard output.
  static func suggestions(in hint: String, archive: String = "FILE") -> [[String]] {
    let names = ["CACHE": "shop", "a b": "shop", "URL": "1", "FILE": archive]
    let parts = hint.split(separator: "urlcache-admin ", omittingEmptySubsequences: false)
    return zip(parts, parts.dropFirst()).map { before, line in
      let ends: [Character] = before.hasSuffix("'") ? ["'"] : [";", ">"]
      var words: [String] = []
      // Quoted values have spaces.
      for (index, part) in line.prefix(while: { !ends.contains($0) })
        .split(separator: "'", omittingEmptySubsequences: false).enumerated()
      {
        words +=
          index.isMultiple(of: 2) ? part.split(separator: " ").map(String.init) : [String(part)]
      }
      words = words.map { names[$0] ?? $0 }
      if let output = words.firstIndex(of: "-o") { words[output + 1] = "-" }
      return words
    }
  }
}
