import PropertyLists
import Testing

@Suite struct PropertyListKeyTests {
  /// Lengths around those at which the comparison or the encoding of strings changes.
  private let lengths = Array(0...34) + [254, 255, 256, 300]

  @Test func `a key finds its text in any encoding`() throws {
    for length in lengths {
      let text = text(ofLength: length)
      let key = PropertyListKey(String(decoding: text, as: UTF8.self))
      #expect(key.description == String(decoding: text, as: UTF8.self))
      let short: [[UInt8]] = length < 15 ? [[0x50 | UInt8(length)]] : []
      let byte: [[UInt8]] = length < 256 ? [[0x5F, 0x10, UInt8(length)]] : []
      let heads = short + byte + [[0x5F, 0x11, UInt8(length >> 8), UInt8(length & 255)]]
      for head in heads {
        #expect(try isFound(key, as: head + text), "\(length) characters after \(head)")
        let wide = [head[0] & 0x0F | 0x60] + head.dropFirst() + text.flatMap { [0, $0] }
        #expect(try isFound(key, as: wide), "\(length) wide characters after \(head)")
      }
    }
  }

  @Test func `a key finds no other text`() throws {
    for length in lengths {
      let text = text(ofLength: length)
      let key = PropertyListKey(String(decoding: text, as: UTF8.self))
      for position in text.indices {
        var other = text
        other[position] ^= 1
        #expect(try !isFound(key, as: string(other)), "\(length), changed at \(position)")
        let wide = string(other, type: 0x60, unit: { [0, $0] })
        #expect(try !isFound(key, as: wide), "\(length), changed at \(position), wide")
        let high = string(text, type: 0x60, unit: { [1, $0] })
        #expect(try !isFound(key, as: high), "\(length), of other characters")
      }
      #expect(try !isFound(key, as: string(text + [97])), "\(length) and one more")
      if length > 0 {
        #expect(try !isFound(key, as: string(text.dropLast())), "\(length) but the last")
        #expect(try !isFound(key, as: [0x40 | UInt8(min(length, 14))] + text), "data")
      }
    }
  }

  @Test func `a truncated key is an error`() throws {
    for length in lengths where length > 0 {
      // The byte after the shortened string is the one that it lacks.
      let text = text(ofLength: length - 1) + [0]
      let key = PropertyListKey(String(decoding: text, as: UTF8.self))
      let string = string(text)
      // The offset table starts where the last character was.
      let table = 8 + 3 + string.count - 1
      var bytes = list([[0xD1, 1, 1], string], table: table)
      bytes.replaceSubrange(table..<table + 4, with: [0, 8, 0, 11])
      let error = #expect(throws: PropertyListError.self, "\(length)") {
        let list = try BinaryPropertyList(bytes.span)
        _ = try list.value(forKey: key, in: list.root)
      }
      #expect(error?.code == .truncated, "\(length)")
    }
  }

  private func text(ofLength length: Int) -> [UInt8] {
    (0..<length).map { UInt8(ascii: "a") + UInt8($0 % 23) }
  }

  /// Returns a string as CoreFoundation encodes it, with `unit` for each character.
  private func string(
    _ text: some Collection<UInt8>, type: UInt8 = 0x50, unit: (UInt8) -> [UInt8] = { [$0] }
  ) -> [UInt8] {
    let count = text.count
    let head: [UInt8] =
      count < 15
      ? [type | UInt8(count)]
      : count < 256
        ? [type | 0x0F, 0x10, UInt8(count)]
        : [type | 0x0F, 0x11, UInt8(count >> 8), UInt8(count & 255)]
    return head + text.flatMap(unit)
  }

  /// Returns whether a key finds the second entry of a dictionary, whose key is an encoded string.
  private func isFound(_ key: PropertyListKey, as string: [UInt8]) throws -> Bool {
    let bytes = list([[0xD2, 1, 2, 3, 4], [0x51, 0x7A], string, [0x08], [0x09]])
    let list = try BinaryPropertyList(bytes.span)
    guard let value = try list.value(forKey: key, in: list.root) else { return false }
    return try list.boolean(value) == true
  }
}
