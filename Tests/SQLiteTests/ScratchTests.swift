import Bytes
import Files
import TestSupport
import Testing

@testable import SQLite

@Suite struct ScratchTests {
  /// A value with a text of any length.
  private struct Item: ScratchRow, Equatable {
    var number: Int64
    var text: ByteString

    init(_ number: Int64, _ text: ByteString = "") { (self.number, self.text) = (number, text) }

    func pack(into values: inout PackedValues) {
      values.append(number)
      values.append(text)
    }

    init(from reader: inout PackedReader) throws(PackedReader.Failure) {
      number = try reader.number()
      text = try reader.text()
    }
  }

  @Test(arguments: [0, 1, 2, 1_000])
  func `a list has the values that were written, in memory or in a database`(_ count: Int) throws {
    // Some texts are longer than a page.
    let items = (0..<count).map { number in
      let length = number % 100 == 7 ? 40_000 : number % 31
      return Item(
        Int64(number) - 500,
        ByteString([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: length)))
    }
    for length in [1, 100, 1 << 17, .max] {
      var writer = Scratch.List<Item>.Writer(partLength: length)
      for item in items { try writer.append(item) }
      let list = try writer.finish()
      #expect(list.count == count && list.isEmpty == (count == 0))
      for _ in 0..<2 { #expect(try Self.array(of: list) == items, "parts of \(length)") }
    }
  }

  @Test func `a writer starts anew when its list is finished`() throws {
    var writer = Scratch.List<Item>.Writer(partLength: 20)
    let texts: [ByteString] = ["", "a text of twenty-one!"]
    for (number, text) in texts.enumerated() { try writer.append(Item(Int64(number), text)) }
    let first = try writer.finish()
    try writer.append(Item(3))
    let second = try writer.finish()
    #expect(try Self.array(of: first) == [Item(0), Item(1, texts[1])])
    #expect(try Self.array(of: second) == [Item(3)])
  }

  @Test func `two readers of a list do not disturb each other`() throws {
    var writer = Scratch.List<Item>.Writer(partLength: 1)
    for number in 0..<10 as Range<Int64> { try writer.append(Item(number)) }
    let list = try writer.finish()
    var (first, second) = (list.makeReader(), list.makeReader())
    for number in 0..<10 as Range<Int64> {
      #expect(try first.next() == Item(number))
      if number > 4 { #expect(try second.next() == Item(number - 5)) }
    }
    #expect(try first.next() == nil && first.next() == nil && second.next() == Item(5))
  }

  @Test(arguments: [0, 1, 7, 300, 5_000, 60_000])
  func `rows with equal keys keep their order`(_ count: Int) throws {
    var random = SplitMix64(seed: UInt64(count))
    // Few different numbers; and so much text that it is sorted in files.
    let items = (0..<count).map { place in
      Item(Int64(random.next() % 50), ByteString("\(place) and a text that takes some room"))
    }
    for isDescending in [false, true] {
      let expected = items.enumerated().sorted { one, other in
        let numbers = (one.element.number, other.element.number)
        if numbers.0 == numbers.1 { return one.offset < other.offset }
        return isDescending ? numbers.0 > numbers.1 : numbers.0 < numbers.1
      }.map(\.element)
      var sort = Scratch.Sort<Item>(descending: [isDescending])
      // Twice, because a sort can be used again.
      for _ in 0..<2 {
        for item in items { try sort.insert(item, by: .integer(item.number)) }
        var sorted = try sort.removeAll()
        var found: [Item] = []
        while let item = try sorted.next() { found.append(item) }
        // Not in one expression, which would print all rows.
        let isInOrder = found == expected
        #expect(isInOrder)
        #expect(try sorted.next() == nil)
      }
    }
  }

  @Test func `keys are compared by kind, number and byte`() throws {
    // In their order. The last two texts are equal to Swift.
    let keys: [Scratch.Key] = [
      .none, .real(-.infinity), .integer(.min), .integer(-1), .real(0.5), .integer(1),
      .integer(.max), .real(.infinity), .bytes([]), .bytes([0]), .bytes([0, 0]), .bytes([0x61]),
      .bytes(Array("e\u{301}".utf8)), .bytes(Array("\u{e9}".utf8)), .bytes([0xFF]),
    ]
    var sort = Scratch.Sort<Item>(descending: [false, true])
    for (number, key) in keys.enumerated().reversed() {
      for second in 0..<2 as Range<Int64> {
        try sort.insert(Item(Int64(number), ByteString("\(second)")), by: key, .integer(second))
      }
    }
    var sorted = try sort.removeAll()
    for number in keys.indices {
      #expect(try sorted.next() == Item(Int64(number), "1"))
      #expect(try sorted.next() == Item(Int64(number), "0"))
    }
  }

  @Test func `what a file system has no room for is kept in memory`() throws {
    for isFull in [false, true] {
      let device: UInt64 = isFull ? 1 << 40 : 1 << 41
      do {
        let room = isFull ? ByteCount(100_000_000) : ByteCount(900_000_000)
        let database = try Scratch(tables: ["CREATE TABLE t(bytes)"]) { _ in
          FileSystemStatus(availableBytes: room, totalBytes: 10_000_000_000, device: device)
        }
        try database.execute("INSERT INTO t VALUES(zeroblob(5000000))")
        #expect(TemporarySpace.bytes(on: device) == 0)
        try database.complete()
        let taken = TemporarySpace.bytes(on: device)
        #expect(isFull ? taken == 0 : taken > 5_000_000 && taken < 5_100_000)
        var statement = try database.prepare("SELECT length(bytes) FROM t")
        #expect(try database.step(&statement) && statement.integer(at: 0) == 5_000_000)
      }
      #expect(TemporarySpace.bytes(on: device) == 0)
    }
  }

  private static func array(of list: Scratch.List<Item>) throws -> [Item] {
    var items: [Item] = []
    try list.forEach { items.append($0) }
    return items
  }
}
