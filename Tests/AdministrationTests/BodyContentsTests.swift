import Administration
import Bytes
import ResponseStorage
import TestSupport
import Testing

@Suite struct BodyContentsTests {
  /// A store with these bodies, and a last response without a body.
  private static func store(_ bodies: [[UInt8]]) -> MemoryStore {
    let responses = (1...Int64(bodies.count + 1)).map { row in
      var response = StoredResponse(id: .row(row))
      response.status = row.isMultiple(of: 2) ? 404 : 200
      response.bodyLocation = row <= bodies.count ? .inline : .missing
      if row == 2 {
        response.responseHeaders = HeaderFields([
          .init(name: "Content-Type", value: "text/plain; charset=\"utf-16be\"")
        ])
      }
      return response
    }
    var store = MemoryStore(responses)
    for (index, body) in bodies.enumerated() { store.bodies[.row(Int64(index + 1))] = body }
    return store
  }

  private static let utf16 = "a word".utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }

  private static var source: MemoryStore {
    store([
      Array("one word".utf8), utf16, Array("two\nwords".utf8), [0x1F, 0x8B, 8, 0],
      [UInt8](repeating: 0x78, count: 65_532) + Array("a word".utf8),
    ])
  }

  /// Returns the numbers of the selected responses.
  private func selected(_ change: (inout Selection) throws -> Void) throws -> [Int64] {
    var selection = Selection()
    try change(&selection)
    #expect(!selection.isEmpty && selection.searchesTexts)
    try selection.findTexts(in: Self.source, at: .epoch)
    return try Self.source.responses.filter { try selection.contains($0, now: .epoch) }.map {
      guard case .row(let row) = $0.id else { return 0 }
      return row
    }
  }

  @Test func `a body contains a text after decoding, wherever pieces end`() throws {
    #expect(try selected { $0.texts = ["word"] } == [1, 2, 3, 5])
    #expect(try selected { $0.texts = ["o\nw", "xa w"] } == [3, 5])
    #expect(try selected { $0.texts = ["Word"] } == [])
    #expect(
      try selected {
        $0.texts = ["word"]
        $0.statuses = [404...404]
      } == [2])
  }

  @Test func `an expression can search bodies`() throws {
    let cases: KeyValuePairs<String, [Int64]> = [
      "body *= word": [1, 2, 3, 5],
      "body *= word && status = 404": [2],
      "body *= one || body *= 'two'": [1, 3],
      // Of a body that is damaged or missing, nothing is known.
      "!(body *= one)": [2, 3, 5],
      "body *= one || status = 404": [1, 2, 4, 6],
      "body *= one || body = missing": [1, 6],
    ]
    for (text, wanted) in cases {
      #expect(try selected { $0.conditions = [try Condition(text)] } == wanted, "\(text)")
    }
  }

  @Test func `an empty text is refused`() {
    #expect(throws: ConditionError.self) { try Condition("body *= ''") }
    #expect(throws: ConditionError.self) { try Condition("body = word") }
  }
}
