import Bytes
import ResponseStorage
import Testing

/// The expected values are from CFNetwork (`apple-cache.md`).
@Suite struct CacheKeyHashTests {
  @Test(
    arguments: [
      ("http://www.apple.com/", 462_566_830),
      ("http://images.apple.com/global/scripts/lib/prototype.js", -632_403_425),
      ("https://latency.discord.media/rtc", -1_637_691_448),
    ] as [(String, Int64)])
  func `a response that was stored again has the low half of the hash`(key: String, hash: Int64) {
    #expect(CacheKeyHash(of: ByteString(key)).whenUpdated == hash)
  }

  @Test func `a response that was stored once has the whole hash`() {
    let hash = CacheKeyHash(of: "https://latency.discord.media/rtc")
    #expect(hash.whenInserted == 7_475_545_582_420_021_192)
  }

  @Test func `a long key is hashed by its first, middle and last 32 units`() {
    let part = String(repeating: "a", count: 32)
    let key = ByteString("\(part)xxxx\(part)xxxx\(part)")
    let other = ByteString("\(part)yyyy\(part)zzzz\(part)")
    #expect(key.bytes.count == 104)
    #expect(CacheKeyHash(of: key) == CacheKeyHash(of: other))
  }

  @Test func `a key is hashed by its UTF-16 units`() {
    // One unit, U+00FC: 1 * 257 + 252, plus itself shifted by one.
    #expect(CacheKeyHash(of: "\u{FC}").value == 509 * 3)
    // Two units: D83D DE00.
    let units: UInt64 = (2 * 257 + 0xD83D) * 257 + 0xDE00
    #expect(CacheKeyHash(of: "\u{1F600}").value == units * 5)
  }
}
