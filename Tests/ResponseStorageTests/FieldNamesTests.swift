import Bytes
import PropertyLists
import TestSupport
import Testing

@testable import ResponseStorage

@Suite struct FieldNamesTests {
  @Test(arguments: [1, 2, 3])
  func `names are numbered as in a dictionary of lowercase names`(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    var names = FieldNames()
    var numbers: [ByteString: Int] = [:]
    // The first sixteen names are kept in another way than the others.
    for _ in 0..<300 {
      let text = "X-\(Int.random(in: 0..<60, using: &generator))"
      let name = ByteString(Bool.random(using: &generator) ? text : text.lowercased())
      let known = numbers[name.asciiLowercased]
      #expect(names.number(of: name) == known)
      #expect(names.insert(name) == (known ?? numbers.count, known == nil))
      numbers[name.asciiLowercased] = known ?? numbers.count
    }
    #expect(numbers.count > 50)
    #expect(names.number(of: "Y") == nil)
  }

  // Comparing each name with all others would take many minutes.
  @Test(.timeLimit(.minutes(1)))
  func `a hostile head with many names is archived in reasonable time`() {
    let names = (0..<300_000).map { ByteString("\($0)") }
    let headers = HeaderFields((names + ["7", "299999"]).map { .init(name: $0, value: "v") })
    var expected = names.map { PropertyListValue.Entry(key: $0.bytes, value: .text("v")) }
    let archived = AppleMessage.archivedHeaders(headers, withArrays: false)
    let record = AppleMessage.varyRecord(
      ByteString(Array(names.map(\.bytes).joined(separator: [0x2C]))), of: headers)
    // Compared outside of the macro, which would print all names.
    let isWhole = record.value == .dictionary(expected)
    #expect(isWhole)
    for place in [7, 299_999] { expected[place].value = .text("v, v") }
    let isJoined = archived == .dictionary(expected)
    #expect(isJoined)
  }
}
