import Foundation
import PropertyLists
import Testing

/// Reads archives written by Foundation, and invalid ones.
@Suite struct KeyedArchiveTests {
  @Test func `values archived by Foundation are read`() throws {
    let uuid = try #require(UUID(uuidString: "01234567-89AB-CDEF-0123-456789ABCDEF"))
    let archive = try archived([
      "text": "é😀", "number": 5, "real": 1.5, "flag": true, "data": Data([1, 2]),
      "date": Date(timeIntervalSinceReferenceDate: 1.25), "uuid": uuid as NSUUID,
      "url": URL(string: "https://a.example/b?c") as Any, "null": NSNull(),
      "array": ["a", ["b"]] as [Any], "inner": ["k": ["l": -7]], "mutable": NSMutableString("m"),
    ])
    #expect(
      try sorted(value(archive)) == [
        .init("array", .array([.text("a"), .array([.text("b")])])),
        .init("data", .data([1, 2])),
        .init("date", .date(1.25)),
        .init("flag", .boolean(true)),
        .init("inner", .dictionary([.init("k", .dictionary([.init("l", .integer(-7))]))])),
        .init("mutable", .text("m")),
        .init("null", .null),
        .init("number", .integer(5)),
        .init("real", .real(1.5)),
        .init("text", .text("é😀")),
        .init("url", .text("https://a.example/b?c")),
        .init("uuid", .text("01234567-89AB-CDEF-0123-456789ABCDEF")),
      ])
  }

  @Test func `a set becomes an array, and an unknown class is identified by name`() throws {
    let archive = try archived([
      "set": NSSet(object: "a"), "zone": NSTimeZone(name: "UTC") as Any,
      "index": NSIndexSet(index: 3),
    ])
    #expect(
      try sorted(value(archive)) == [
        .init("index", .opaque("NSIndexSet")),
        .init("set", .array([.text("a")])),
        .init("zone", .opaque("NSTimeZone")),
      ])
  }

  @Test func `a relative URL includes its base`() throws {
    let base = try #require(URL(string: "https://a.example/b/c"))
    let url = try #require(NSURL(string: "../d?e", relativeTo: base))
    let archive = try NSKeyedArchiver.archivedData(withRootObject: url, requiringSecureCoding: true)
    let bytes = Array(archive)
    let list = try BinaryPropertyList(bytes.span)
    let keyed = try KeyedArchive(list)
    let joined = try keyed.value(of: keyed.root) { Array($0.joined(separator: Array(" to ".utf8))) }
    #expect(joined == .text("../d?e to https://a.example/b/c"))
    #expect(try keyed.value(of: keyed.root) == .text("../d?e"))
  }

  @Test func `skipping large data changes nothing else`() throws {
    let large = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    let bytes = try archived(["large": large, "small": Data([1]), "text": "t"])
    var wasRead = 0
    let condensed = try CondensedPropertyList(size: Int64(bytes.count), limits: .standard) {
      wasRead += $0.count
      return Array(bytes[Int($0.lowerBound)..<Int($0.upperBound)])
    }
    #expect(wasRead < 3_000)
    #expect(condensed.bytes.count < 4_000)
    let list = try BinaryPropertyList(condensed.bytes.span)
    let archive = try KeyedArchive(list, leftOut: condensed.leftOut)
    let entries = try sorted(archive.value(of: archive.root))
    #expect(entries.map(\.key) == ["large", "small", "text"].map { Array($0.utf8) })
    #expect(entries[1].value == .data([1]))
    #expect(entries[2].value == .text("t"))
    #expect(entries[0].value == .opaque("NSData of 100000 bytes"))
    var left: Range<Int64>?
    for object in try archive.objects("NS.objects", of: archive.root) {
      if case .left(let range)? = try archive.data(object) { left = range }
    }
    let range = try #require(left)
    #expect(Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]) == Array(large))
  }

  @Test func `an archive that contains itself is refused`() throws {
    let bytes = archive([
      dictionary(keys: [2], values: [1]), .text("again"), dictionaryClass,
    ])
    #expect(throws: PropertyListError.Code.cyclic) { try codes { try value(bytes) } }
  }

  @Test func `a chain of many levels is refused`() throws {
    // Level n is object n + 1; the class and the key come last.
    let levels = (0..<70).map { dictionary(keys: [72], values: [UInt64($0) + 2], of: 73) }
    let bytes = archive(levels + [.text("end"), .text("key"), dictionaryClass])
    #expect(throws: PropertyListError.Code.tooDeep) { try codes { try value(bytes) } }
  }

  @Test func `a chain of URLs that are relative to each other is refused`() throws {
    let bytes = archive([
      instance(["NS.base": .uid(1), "NS.relative": .uid(2)], of: 3), .text("a"),
      type("NSURL"),
    ])
    #expect(throws: PropertyListError.Code.tooDeep) { try codes { try value(bytes) } }
  }

  @Test func `shared objects count at each use`() throws {
    // Each of 20 levels contains the next one twice.
    let levels = (0..<20).map { level in
      dictionary(keys: [22, 22], values: [UInt64(level) + 2, UInt64(level) + 2], of: 23)
    }
    let bytes = archive(levels + [.text("end"), .text("key"), dictionaryClass])
    #expect(throws: PropertyListError.Code.tooManyObjects) { try codes { try value(bytes) } }
  }

  @Test func `a reference to nothing is refused`() throws {
    let bytes = archive([dictionary(keys: [2], values: [99]), .text("k"), dictionaryClass])
    #expect(throws: PropertyListError.Code.malformed) { try codes { try value(bytes) } }
  }

  @Test func `a reference to a reference is not followed`() throws {
    let bytes = archive([dictionary(keys: [2], values: [4]), .text("k"), dictionaryClass, .uid(1)])
    #expect(try value(bytes) == .dictionary([.init("k", .opaque("unknown"))]))
  }

  @Test func `a dictionary ends with the shorter of its keys and values`() throws {
    let bytes = archive([dictionary(keys: [2, 2], values: [2]), .text("k"), dictionaryClass])
    #expect(try value(bytes) == .dictionary([.init("k", .text("k"))]))
    let list = try BinaryPropertyList(bytes.span)
    let archive = try KeyedArchive(list)
    #expect(try archive.objects("NS.keys", of: archive.root).count == 2)
    #expect(try archive.objects("NS.objects", of: archive.root).count == 1)
  }

  @Test func `an object without a class is recognised`() throws {
    let bytes = archive([.dictionary([]), .text("k")])
    #expect(try value(bytes) == .opaque("unknown"))
  }

  @Test(arguments: [
    PropertyListValue.array([]), .dictionary([]), .text("NSKeyedArchiver"),
    .dictionary([.init(key: Array("$archiver".utf8), value: .text("NSArchiver"))]),
  ])
  func `a property list of another kind is not an archive`(_ list: PropertyListValue) throws {
    let bytes = PropertyListWriter().bytes(of: list)
    #expect(throws: PropertyListError.Code.notKeyedArchive) { try codes { try value(bytes) } }
  }
}

@Suite struct KeyedArchiveWriterTests {
  @Test func `Foundation reads written archives`() throws {
    var writer = KeyedArchiveWriter()
    let entries: [(String, PropertyListValue)] = [
      ("text", writer.add(.text("é😀"))), ("same", writer.add(.text("é😀"))),
      ("number", writer.add(.integer(5))), ("date", writer.add(date: 1.25)),
      ("url", writer.add(url: Array("https://a.example/".utf8))),
      ("data", writer.add(.data([1, 2]))),
    ]
    let root = writer.add(
      dictionary: entries.map { (writer.add(.text($0.0)), $0.1) })
    let read = try NSKeyedUnarchiver.unarchivedObject(
      ofClasses: [NSDictionary.self, NSDate.self, NSURL.self],
      from: Data(writer.bytes(root: root)))
    let dictionary = try #require(read as? [String: Any])
    #expect(dictionary["text"] as? String == "é😀")
    #expect(dictionary["same"] as? String == "é😀")
    #expect(dictionary["number"] as? Int == 5)
    #expect(dictionary["date"] as? Date == Date(timeIntervalSinceReferenceDate: 1.25))
    #expect(dictionary["url"] as? URL == URL(string: "https://a.example/"))
    #expect(dictionary["data"] as? Data == Data([1, 2]))
    #expect(dictionary.count == 6)
  }

  @Test func `written archives are read back`() throws {
    var writer = KeyedArchiveWriter()
    let key = writer.add(.text("k"))
    let root = writer.add(dictionary: [(key, writer.add(.integer(-1)))])
    #expect(try value(writer.bytes(root: root)) == .dictionary([.init("k", .integer(-1))]))
  }
}

extension PropertyListValue.Entry {
  fileprivate init(_ key: String, _ value: PropertyListValue) {
    self.init(key: Array(key.utf8), value: value)
  }
}

extension PropertyListError.Code: Error {}

/// Calls `body`, and rethrows only the code of its error.
private func codes<Result>(_ body: () throws -> Result) throws -> Result {
  do { return try body() } catch let error as PropertyListError { throw error.code }
}

/// Reads a whole archive.
private func value(_ bytes: [UInt8]) throws -> PropertyListValue {
  let list = try BinaryPropertyList(bytes.span)
  let archive = try KeyedArchive(list)
  return try archive.value(of: archive.root)
}

/// Returns the entries of a dictionary sorted by key, because Foundation writes them in any order.
private func sorted(_ value: PropertyListValue) throws -> [PropertyListValue.Entry] {
  guard case .dictionary(let entries) = value else { return [] }
  return entries.sorted { $0.key.lexicographicallyPrecedes($1.key) }
}

private func archived(_ dictionary: [String: Any]) throws -> [UInt8] {
  Array(
    try NSKeyedArchiver.archivedData(
      withRootObject: dictionary as NSDictionary, requiringSecureCoding: false))
}

/// Returns an archive whose root is the first of `objects`, which are numbered from 1.
private func archive(_ objects: [PropertyListValue]) -> [UInt8] {
  PropertyListWriter().bytes(
    of: dictionary([
      "$archiver": .text("NSKeyedArchiver"), "$version": .integer(100_000),
      "$top": dictionary(["root": .uid(1)]), "$objects": .array([.text("$null")] + objects),
    ]))
}

private func dictionary(_ members: KeyValuePairs<String, PropertyListValue>) -> PropertyListValue {
  .dictionary(members.map { .init(key: Array($0.key.utf8), value: $0.value) })
}

private func instance(
  _ members: KeyValuePairs<String, PropertyListValue>, of type: UInt64
) -> PropertyListValue {
  .dictionary(
    members.map { .init(key: Array($0.key.utf8), value: $0.value) }
      + [.init(key: Array("$class".utf8), value: .uid(type))])
}

/// Returns an archived dictionary. Its class is the third object by default.
private func dictionary(
  keys: [UInt64], values: [UInt64], of type: UInt64 = 3
) -> PropertyListValue {
  instance(
    [
      "NS.keys": .array(keys.map { .uid($0) }), "NS.objects": .array(values.map { .uid($0) }),
    ], of: type)
}

private let dictionaryClass = type("NSDictionary")

private func type(_ name: String) -> PropertyListValue {
  dictionary(["$classname": .text(name), "$classes": .array([.text(name)])])
}
