import Testing

@testable import HTTPCaching

@Suite struct FieldNameTests {
  @Test(arguments: KnownFieldName.allCases)
  func `a known field is found by its name in any case, and by no other`(known: KnownFieldName) {
    let name = Array(known.lowercased.utf8)
    let capitals = name.map { byte in byte >= UInt8(ascii: "a") ? byte & ~0x20 : byte }
    for spelling in [name, capitals, [capitals[0]] + name.dropFirst()] {
      #expect(KnownFieldName(spelling.span) == known)
      #expect(FieldName(spelling) == FieldName(known))
      #expect(FieldName(spelling).lowercased == name)
      #expect(FieldName(of: FieldLine(name: spelling, value: [])) == FieldName(known))
      #expect(FieldName(known).matches(spelling))
      #expect(FieldName(known).matches(FieldLine(name: spelling, value: [])))
    }
    for other in others(name) {
      #expect(KnownFieldName(other.span) != known)
      #expect(FieldName(other) != FieldName(known))
      #expect(!FieldName(known).matches(other))
      #expect(!FieldName(known).matches(FieldLine(name: other, value: [])))
    }
  }

  @Test func `a line with a different name is a different field`() {
    var line = FieldLine(name: Array("Age".utf8), value: [])
    line.name = Array("X-Age".utf8)
    #expect(!FieldName.age.matches(line))
    #expect(FieldName("x-age").matches(line))
    line.name = Array("AGE".utf8)
    #expect(FieldName.age.matches(line))
  }

  @Test func `a set contains the inserted names, known or not`() {
    var names = FieldNameSet([.age, .vary, "X-One"])
    names.insert("X-Two")
    for (text, isIn) in [
      ("AGE", true), ("vary", true), ("x-one", true), ("X-TWO", true), ("Date", false),
      ("x-three", false), ("", false),
    ] {
      let bytes = Array(text.utf8)
      #expect(names.name(matching: bytes.span) == (isIn ? FieldName(bytes) : nil), "\(text)")
    }
  }

  @Test(arguments: CacheDirective.Name.allCases)
  func `a directive is found by its name in any case, and by no other`(known: CacheDirective.Name) {
    let name = Array(known.rawValue.utf8)
    let capitals = name.map { byte in byte >= UInt8(ascii: "a") ? byte & ~0x20 : byte }
    #expect(CacheDirective.Name(name.span) == known)
    #expect(CacheDirective.Name(capitals.span) == known)
    for other in others(name) { #expect(CacheDirective.Name(other.span) == nil) }
  }

  /// Returns the names that differ from a name in one byte.
  private func others(_ name: [UInt8]) -> [[UInt8]] {
    let changed = name.indices.map { place in
      var other = name
      // An underscore is not a letter, and no name contains one.
      other[place] = other[place] == UInt8(ascii: "_") ? UInt8(ascii: "-") : UInt8(ascii: "_")
      return other
    }
    return changed
      + [name.dropLast(), name + [0], name + [UInt8(ascii: "A")], [0x20] + name]
      .map { Array($0) }
  }
}
