import Administration
import Bytes
import ResponseStorage
import TestSupport
import Testing

@Suite struct ResourceVersionTests {
  @Test(arguments: [
    ("app-8f3a2c1d.js", "app-*.js", "8f3a2c1d"),
    ("static/js/main.8f3a2c1d.chunk.js", "static/js/main.*.chunk.js", "8f3a2c1d"),
    ("123.8f3a2c1d9e0b1a2c3d4e.js", "123.*.js", "8f3a2c1d9e0b1a2c3d4e"),
    ("assets/index-BxYz12_a.js", "assets/index-*.js", "BxYz12_a"),
    ("assets/index-Bx-z12_a.css", "assets/index-*.css", "Bx-z12_a"),
    ("main-7VJEZEEA.js", "main-*.js", "7VJEZEEA"),
    (
      "application-d95e6b0cdca2f790d4c8520b8d94e8f5e183d2b2e0552c89667a822be1598b7c.css",
      "application-*.css", "d95e6b0cdca2f790d4c8520b8d94e8f5e183d2b2e0552c89667a822be1598b7c"
    ),
    ("js/jquery-3.6.1.min.js", "js/jquery-*.min.js", "3.6.1"),
    ("js/vue-3.0.0-rc.1.js", "js/vue-*.js", "3.0.0-rc.1"),
    ("npm/@acme/vue@3.2.1/dist/vue.js", "npm/@acme/vue@*/dist/vue.js", "3.2.1"),
    ("jquery/3.6.1/jquery-3.6.1.js", "jquery/*/jquery-*.js", "3.6.1\n3.6.1"),
    ("logo-v2.png", "logo-*.png", "v2"),
    ("logo_20230131.png", "logo_*.png", "20230131"),
    ("logo@2x-8f3a2c1d.png", "logo@2x-*.png", "8f3a2c1d"),
    ("logo.8f3a2c1d@2x.png", "logo.*@2x.png", "8f3a2c1d"),
    ("logo.png?v=2", "logo.png?v=*", "2"),
    ("logo.png?w=100&v=2#top", "logo.png?w=100&v=*#top", "2"),
    ("logo.png!small?v=2", "logo.png!small?v=*", "2"),
    ("style.css?1672531200", "style.css?*", "1672531200"),
    ("data.json?_=1672531200123", "data.json?_=*", "1672531200123"),
    (
      "logo-FgLqk3vB8rN0aZ1xYcWdQeTuIoPm.png", "logo-*.png", "FgLqk3vB8rN0aZ1xYcWdQeTuIoPm"
    ),
    (
      "a.jpg?imageView2/2/w/200&e=1451491200&token=key:sign", "a.jpg?imageView2/2/w/200",
      "&e=1451491200&token=key:sign"
    ),
    (
      "object?Expires=1&Signature=a&Key-Pair-Id=b", "object?", "Expires=1&Signature=a&Key-Pair-Id=b"
    ),
    (
      "object?X-Amz-Date=1&part=2&X-Amz-Signature=a", "object?part=2",
      "X-Amz-Date=1&\n&X-Amz-Signature=a"
    ),
  ])
  func `a URL has a pattern and a marker`(path: String, pattern: String, marker: String) throws {
    let version = try #require(ResourceVersion(of: ByteString("https://example.com/\(path)")))
    #expect(version.pattern == ByteString("https://example.com/\(pattern)"))
    #expect(version.marker == ByteString("\(marker)\n"))
  }

  @Test(arguments: [
    "https://example.com/", "https://example.com/app.js", "https://example.com/logo@2x.png",
    "https://example.com/photo-1234.jpg", "https://example.com/photo_100x100.jpg",
    "https://example.com/logo-512.png", "https://example.com/logo-thumb.jpg",
    "https://example.com/2023/01/02/cover.jpg", "https://example.com/2023.01.02/cover.jpg",
    "https://example.com/IMG_20230131.jpg", "https://example.com/report-20230131.pdf",
    "https://example.com/user/123", "https://example.com/list.json?page=2",
    "https://example.com/8f3a2c1d9e0b1a2c.js", "https://example.com/i/8f3a2c1d9e0b1a2c_100x100.jpg",
    "https://example.com/chunk-7VJEZEEA.js", "https://example.com/avatar-8f3a2c1d.png",
    "https://example.com/uploads/beach-8f3a2c1d.jpg",
    "https://example.com/item-5f3a2c1d9e0b1a2c3d4e5f60.json",
    "https://example.com/doc-550e8400-e29b-41d4-a716-446655440000.png",
    "https://example.com/js/admin-DataGrid.js", "https://example.com/js/page-settings.js",
    "https://example.com/guide-section2.png", "https://example.com/a.jpg?imageView2/2/w/200",
    "https://example.com/a.jpg!small", "https://example.com/a.css?v=dark",
    "https://example.com/film.mp4?t=30", "https://example.com/watch?v=dQw4w9WgXcQ",
    "https://example.com/api/me?token=8f3a2c1d9e0b", "https://example.com/api/v2/users.json",
    "https://example.com/10.0.0.1/status.json", "file:///app-8f3a2c1d.js", "app-8f3a2c1d.js", "",
    "data:text/css,app-8f3a2c1d.css", "https:///app-8f3a2c1d.js",
  ])
  func `text that is not a version has no marker`(url: String) {
    #expect(ResourceVersion(of: ByteString(url)) == nil)
  }

  @Test func `pattern and marker reproduce the URL`() throws {
    // Whatever the bytes are, no part of a URL is lost or invented: seeds 0 to 9.
    let pieces = [
      "https://e.com/", "a-8f3a2c1d", ".js", "?v=3", "&e=1", "&token=x", "?", "=", "&", "-", "/",
      "1.2.3",
      "@", "_20230101", "!s", ".png", "#", "v2", "\u{301}", "%2F", "*", "Signature=1",
    ]
    for seed in 0..<10 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      for _ in 0..<3_000 {
        var bytes = Array("https://e.com/".utf8)
        for _ in 0..<Int.random(in: 0..<9, using: &random) {
          bytes += (pieces.randomElement(using: &random) ?? "").utf8
        }
        if Bool.random(using: &random) { bytes.append(.random(in: 0...255, using: &random)) }
        guard let version = ResourceVersion(of: ByteString(bytes)) else { continue }
        let marks = version.marker.bytes.split(
          separator: 10, omittingEmptySubsequences: false
        ).dropLast()
        let kept = version.pattern.bytes.filter { $0 != UInt8(ascii: "*") }
        let cut = marks.joined().filter { $0 != UInt8(ascii: "*") }
        let all = bytes.filter { $0 != UInt8(ascii: "*") && $0 != 10 }
        #expect(
          (kept.filter { $0 != 10 } + cut).sorted() == all.sorted(),
          "seed \(seed): \(ByteString(bytes))")
      }
    }
  }
}
