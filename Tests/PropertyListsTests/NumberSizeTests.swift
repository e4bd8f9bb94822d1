import PropertyLists
import Testing

@Suite struct NumberSizeTests {
  @Test func `offsets and references may have any size`() throws {
    for offsetSize in 1...8 {
      for referenceSize in 1...8 {
        let sizes: Comment = "offsets of \(offsetSize) bytes, references of \(referenceSize)"
        func references(_ indices: Int...) -> [UInt8] {
          indices.flatMap { number($0).suffix(referenceSize) }
        }
        let objects: [[UInt8]] = [
          [0xD2] + references(1, 2, 3, 4), [0x51, 97], [0x51, 98], [0x10, 200],
          [0xA4] + references(3, 5, 6, 1), [0x23] + number(0x4009_0000_0000_0000),
          [0x12, 1, 2, 3, 4],
        ]
        let bytes = list(objects, offsetSize, referenceSize)
        #expect(
          try read(bytes)
            == .dictionary([
              .init(key: [97], value: .integer(200)),
              .init(
                key: [98],
                value: .array([.integer(200), .real(3.125), .integer(0x0102_0304), .text("a")])),
            ]), sizes)
        let list = try BinaryPropertyList(bytes.span)
        let array = try #require(try list.value(forKey: "b", in: list.root), sizes)
        let elements = try #require(try list.elements(of: array), sizes)
        let integers = try (-1...5).map { try list.integer($0, of: elements) }
        #expect(integers == [nil, 200, nil, 0x0102_0304, nil, nil, nil], sizes)
        let reals = try (-1...5).map { try list.real($0, of: elements) }
        #expect(reals == [nil, nil, 3.125, nil, nil, nil, nil], sizes)
        #expect(try list.element(.min, of: elements) == nil, sizes)
        #expect(try list.element(.max, of: elements) == nil, sizes)
      }
    }
  }

  /// Returns a property list of encoded objects, with offsets of `offsetSize` bytes.
  private func list(
    _ objects: [[UInt8]], _ offsetSize: Int, _ referenceSize: Int
  ) -> [UInt8] {
    var bytes = Array("bplist00".utf8)
    var offsets: [UInt8] = []
    for object in objects {
      offsets += number(bytes.count).suffix(offsetSize)
      bytes += object
    }
    let end = bytes.count
    return bytes + offsets + [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
      + number(objects.count) + number(0) + number(end)
  }
}
