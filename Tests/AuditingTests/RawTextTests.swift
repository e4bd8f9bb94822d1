import Testing

@testable import Auditing

@Suite struct RawTextTests {
  /// Returns a text with its NULs as dots.
  private func separated(_ bytes: [UInt8]) -> String {
    String(
      decoding: RawText.separated(bytes[...]).map { $0 == 0 ? UInt8(ascii: ".") : $0 },
      as: UTF8.self)
  }

  @Test func `the marks of strings in property lists are no part of the strings`() {
    let long = Array("a string of 20 chars".utf8)
    #expect(
      separated([0x5F, 0x10, 20] + long + [0x53] + Array("200".utf8) + [0x5F, 0x10, 20] + long)
        == "...a string of 20 chars.200...a string of 20 chars")
    #expect(separated([0x5F, 0x11, 0, 20] + long + [0x08]) == "....a string of 20 chars\u{8}")
    // An underscore of a text stays.
    #expect(separated(Array("gh_p_10 is text".utf8)) == "gh_p_10 is text")
    // A length that does not fit is none.
    #expect(separated([0x5F, 0x10, 200] + long).utf8.contains(0x5F))
  }

  @Test func `the time after a URL is no part of the URL`() {
    #expect(
      separated(Array("https://a/?token=abc2026-01-31 12:00:00".utf8))
        == "https://a/?token=abc.026-01-31 12:00:00")
    #expect(separated(Array("2026-01-31 12:00".utf8)) == "2026-01-31 12:00")
  }
}
