import Bytes
import Files
import TestSupport
import Testing

@testable import Administration

@Suite struct SpoolingTests {
  /// A value with a text of any length.
  private struct Item: Spoolable, Equatable {
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
  func `a list has the values that were written, in memory or in a file`(_ count: Int) throws {
    // Some texts are longer than what is read from the file at once.
    let items = (0..<count).map { number in
      let length = number % 100 == 7 ? 40_000 : number % 31
      return Item(
        Int64(number) - 500,
        ByteString([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: length)))
    }
    for memory in [1, 100, 1 << 17, .max] {
      var writer = SpooledList<Item>.Writer(in: "/tmp", keeping: memory)
      for item in items { try writer.append(item) }
      let list = try writer.finish()
      #expect(list.count == count && list.isEmpty == (count == 0))
      for _ in 0..<2 { #expect(try Self.array(of: list) == items, "\(memory) bytes in memory") }
    }
  }

  @Test func `a writer starts anew when its list is finished`() throws {
    var writer = SpooledList<Item>.Writer(in: "/tmp", keeping: 20)
    try writer.append(Item(1))
    try writer.append(Item(2))
    let first = try writer.finish()
    try writer.append(Item(3))
    let second = try writer.finish()
    #expect(try Self.array(of: first) == [Item(1), Item(2)])
    #expect(try Self.array(of: second) == [Item(3)])
  }

  @Test func `without a folder, lists and sorts are kept in memory`() throws {
    let items = (0..<500).map { Item($0 * 7 % 500, ByteString("\($0)")) }
    var writer = SpooledList<Item>.Writer(in: "/nonexistent", keeping: 40)
    var sort = SpooledSort<Item>(in: "/nonexistent", runLength: 20) { $0.number < $1.number }
    for item in items {
      try writer.append(item)
      try sort.insert(item)
    }
    #expect(try Self.array(of: writer.finish()) == items)
    var merged = try sort.removeAll()
    var numbers: [Int64] = []
    while let item = try merged.next() { numbers.append(item.number) }
    #expect(numbers == Array(0..<500))
  }

  @Test func `what a file system has no room for is kept in memory`() throws {
    // Of its own, so that other tests do not change what it counts.
    let device: UInt64 = 1 << 40
    var rooms = [9, 9, 9, 1].map { ByteCount($0 * 100_000_000) }
    var file: SpoolFile? = try SpoolFile(in: "/tmp") { _ in
      let room = rooms.count > 1 ? rooms.removeFirst() : rooms[0]
      return FileSystemStatus(availableBytes: room, totalBytes: 10_000_000_000, device: device)
    }
    let parts = (0..<5).map { number in [UInt8](repeating: UInt8(number), count: 5_000) }
    for part in parts { try file?.append(part) }
    // Two parts are in the file, in blocks of 4,096 bytes.
    #expect(SpoolSpace.bytes(on: device) == 12_288)
    #expect(file?.end == 25_000)
    let all = parts.joined()
    for start in stride(from: 0 as Int64, to: 25_000, by: 777) {
      var bytes: [UInt8] = []
      while start + Int64(bytes.count) < 25_000 {
        bytes += try file?.read(start + Int64(bytes.count)..<25_000, atMost: 3_000) ?? []
      }
      #expect(bytes == Array(all.dropFirst(Int(start))))
    }
    file = nil
    #expect(SpoolSpace.bytes(on: device) == 0)
  }

  @Test(arguments: [0, 1, 7, 300, 5_000])
  func `sorted runs have the order of one sort in memory`(_ count: Int) throws {
    var random = SplitMix64(seed: UInt64(count))
    // Few different numbers: equal ones must keep their order.
    let items = (0..<count).map { place in
      Item(Int64(random.next() % 50), ByteString("\(place)"))
    }
    let expected = items.enumerated().sorted {
      ($0.element.number, $0.offset) < ($1.element.number, $1.offset)
    }.map(\.element)
    for runLength in [1, 3, 64, 2_100, .max] where runLength > count / 100 {
      var sort = SpooledSort<Item>(in: "/tmp", runLength: runLength) { $0.number < $1.number }
      // Twice, because a sort can be used again.
      for _ in 0..<2 {
        for item in items { try sort.insert(item) }
        var merged = try sort.removeAll()
        var found: [Item] = []
        while let item = try merged.next() { found.append(item) }
        #expect(found == expected, "\(count) in runs of \(runLength)")
      }
    }
  }

  @Test func `sorted lists are merged with single values`() throws {
    var writer = SpooledList<Item>.Writer(in: "/tmp")
    for number in [2, 5, 9] as [Int64] { try writer.append(Item(number)) }
    var sort = SpooledSort<Item>(in: "/tmp", runLength: 2) { $0.number < $1.number }
    for number in [7, 1, 8] as [Int64] { try sort.insert(Item(number)) }
    try sort.insert(sorted: try writer.finish())
    for number in [6, 3] as [Int64] { try sort.insert(Item(number)) }
    var merged = try sort.removeAll()
    var numbers: [Int64] = []
    while let item = try merged.next() { numbers.append(item.number) }
    #expect(numbers == [1, 2, 3, 5, 6, 7, 8, 9])
  }

  private static func array(of list: SpooledList<Item>) throws -> [Item] {
    var items: [Item] = []
    try list.forEach { items.append($0) }
    return items
  }
}
