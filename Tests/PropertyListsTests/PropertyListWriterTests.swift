import PropertyLists
import Testing

@Suite struct PropertyListWriterTests {
  @Test func `text is ASCII or UTF-16, and equal text is written once`() {
    let bytes = PropertyListWriter().bytes(
      of: .dictionary([
        .init(key: [97], value: .text("a")), .init(key: Array("é".utf8), value: .integer(256)),
      ]))
    let objects: [[UInt8]] = [
      [0xD2, 1, 2, 1, 3], [0x51, 97], [0x61, 0x00, 0xE9], [0x11, 1, 0],
    ]
    let offsets: [UInt8] = [8, 13, 15, 18]
    let trailer: [UInt8] = [0, 0, 0, 0, 0, 0, 1, 1] + number(4) + number(0) + number(21)
    #expect(bytes == Array("bplist00".utf8) + objects.joined() + offsets + trailer)
  }

  @Test func `integers take the fewest bytes`() {
    let sizes = [0, 255, 256, 65_535, 65_536, 0xFFFF_FFFF, 0x1_0000_0000, .max, -1, .min].map {
      PropertyListWriter().bytes(of: .integer($0)).count - 8 - 1 - 1 - 32
    }
    #expect(sizes == [1, 1, 2, 2, 4, 4, 8, 8, 8, 8])
  }

  @Test(arguments: [0, 14, 15, 256, 70_000])
  func `a list can be written around existing data bytes`(count: Int) {
    let data = [UInt8](repeating: 0xAB, count: count)
    func list(_ bytes: [UInt8]) -> PropertyListValue {
      .array([.text("a"), .dictionary([.init(key: [98], value: .data(bytes))]), .data([1, 2])])
    }
    let parts = PropertyListWriter().parts(of: list([9]), dataSize: Int64(count))
    #expect(parts.before + data + parts.after == PropertyListWriter().bytes(of: list(data)))
  }

  @Test func `invalid UTF-8 is replaced`() throws {
    let bytes = PropertyListWriter().bytes(of: .array([.string([0x61, 0xFF]), .string([0xFF])]))
    #expect(try read(bytes) == .array([.text("a\u{FFFD}"), .text("\u{FFFD}")]))
  }
}
