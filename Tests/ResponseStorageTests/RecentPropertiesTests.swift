import Bytes
import PropertyLists
import Testing

@testable import ResponseStorage

struct RecentPropertiesTests {
  @Test func `each list has its own properties, whatever was decoded before`() throws {
    // More lists than are kept, some of them too long, and some that differ only in their last bytes.
    let lists = (0..<600).map { number in
      let text = String(repeating: "x", count: number % 7 == 0 ? 300 : number % 40) + "\(number)"
      return PropertyListWriter().bytes(
        of: .dictionary([.init(key: Array("Vary".utf8), value: .string(Array(text.utf8)))]))
    }
    var recent = RecentProperties()
    // Each list follows many different ones: in this order, 7,919 being a prime, and again in ranges.
    for step in 0..<20_000 {
      let list = lists[step % 3 == 0 ? step / 3 % 40 : step * 7_919 % lists.count]
      let expected = try StoredResponse.decodeProperties(list.span)
      #expect(try recent.decode(list.span) == expected)
    }
  }

  @Test func `a list that is damaged throws each time`() throws {
    let list = PropertyListWriter().bytes(
      of: .dictionary([.init(key: Array("Vary".utf8), value: .string(Array("text".utf8)))]))
    var recent = RecentProperties()
    let expected = try recent.decode(list.span)
    var damaged = list
    damaged[8] = 0xFF
    for damaged in [damaged, [], Array(list.dropLast())] {
      for _ in 0..<2 {
        #expect(throws: PropertyListError.self) { try recent.decode(damaged.span) }
        #expect(try recent.decode(list.span) == expected)
      }
    }
  }

  @Test func `a short list with large properties is not kept`() throws {
    // Four arrays, each with twelve references to the next: 20,736 texts.
    var (objects, offsets) = ([] as [UInt8], [] as [UInt8])
    func add(_ object: [UInt8]) {
      offsets.append(UInt8(8 + objects.count))
      objects += object
    }
    add([0xD1, 1, 2])
    add([0x54] + Array("Vary".utf8))
    for next in 3...6 as ClosedRange<UInt8> { add([0xAC] + repeatElement(next, count: 12)) }
    add([0x54] + Array("text".utf8))
    let trailer: [UInt8] =
      [0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, UInt8(offsets.count)]
      + Array(repeating: 0, count: 15) + [UInt8(8 + objects.count)]
    let list = Array("bplist00".utf8) + objects + offsets + trailer
    #expect(list.count < 256)
    var recent = RecentProperties()
    let properties = try recent.decode(list.span)
    #expect(properties == (try StoredResponse.decodeProperties(list.span)))
    #expect("\(properties)".utf8.count > 20_736)
    #expect(recent.slots.allSatisfy { $0.list.isEmpty && $0.properties.isEmpty })
  }
}
