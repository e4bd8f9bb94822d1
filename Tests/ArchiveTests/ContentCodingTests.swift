import Archive
import Testing

@Suite struct ContentCodingTests {
  @Test(
    arguments: [
      ([], nil), ([0x1F], nil), ([0x1F, 0x8B], .gzip), ([0x1F, 0x8B, 8, 0], .gzip),
      ([0x8B, 0x1F], nil),
      ([0x28, 0xB5, 0x2F], nil), ([0x28, 0xB5, 0x2F, 0xFD], .zstd),
      ([0x28, 0xB5, 0x2F, 0xFE], nil),
      (Array("{\"a\":1}".utf8), nil), ([0x50, 0x4B, 3, 4], nil), ([0x42, 0x5A, 0x68, 0x39], nil),
    ] as [([UInt8], ContentCoding?)])
  func `a coding is recognised by its first bytes`(_ start: [UInt8], _ coding: ContentCoding?) {
    #expect(ContentCoding(ofDataBeginningWith: start[...]) == coding)
  }

  @Test func `enough bytes are examined for the longest magic number`() {
    let start: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]
    #expect(ContentCoding.longestMark == start.count)
  }
}
