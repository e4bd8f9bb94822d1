import Bytes
import ResponseStorage
import TestSupport
import Testing

@testable import Administration

@Suite struct FolderTests {
  @Test func `the folder of a URL is its first two segments before others`() {
    var random = Seeded(state: 11)
    let pieces = ["/", "/", "?", "#", "a", ".", "//", "é", "longer-than-a-word", "%2F", "\u{AF}o"]
    for _ in 0..<20_000 {
      let rest = (0..<Int.random(in: 0...12, using: &random))
        .map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
      let url = ["https://", "a://"].randomElement(using: &random) ?? ""
      let text = url + "host" + rest
      #expect(URLParts.folder(of: ByteString(text)) == folder(of: text), "\(text)")
    }
    #expect(URLParts.folder(of: "file:a/b/c") == nil)
    #expect(URLParts.folder(of: "") == nil)
  }

  @Test func `a known prefix has a position, and no other text has one`() {
    var random = Seeded(state: 12)
    var recent = RecentBeginnings()
    var places: [ByteString: Int] = [:]
    var found = 0
    for place in 0..<40_000 {
      let length = Int.random(in: 0...70, using: &random)
      // All are the same except for one byte.
      let odd = Int.random(in: 0...70, using: &random)
      let text = ByteString((0..<length).map { $0 == odd ? 0x80 : 0 })
      let known = recent.place(of: text.bytes.span)
      if known != nil {
        #expect(known == places[text])
        found += 1
      }
      recent.insert(text.bytes.span, at: place)
      #expect(recent.place(of: text.bytes.span) == (8...64 ~= length ? place : nil))
      places[text] = place
    }
    #expect(found > 10_000)
  }

  /// Returns the range of the folder in a URL, found byte by byte.
  private func folder(of url: String) -> Range<Int>? {
    let bytes = Array(url.utf8)
    guard let colon = bytes.firstIndex(of: 0x3A) else { return nil }
    let authority =
      bytes[(colon + 3)...].firstIndex { [0x2F, 0x3F, 0x23].contains($0) } ?? bytes.count
    let path = bytes[authority...].prefix { $0 != 0x3F && $0 != 0x23 }
    let slashes = path.indices.filter { path[$0] == 0x2F }.prefix(3)
    return authority..<(slashes.last ?? authority)
  }
}
