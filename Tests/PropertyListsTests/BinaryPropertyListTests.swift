import Foundation
import PropertyLists
import Testing

@Suite struct BinaryPropertyListTests {
  @Test func `lists written by Python's plistlib are read correctly`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    try python("generate", folder.path())
    let lines = try String(contentsOf: folder.appending(path: "expected"), encoding: .utf8)
      .split(separator: "\n")
    #expect(lines.count == 500)
    for (number, line) in lines.enumerated() {
      let bytes = [UInt8](try Data(contentsOf: folder.appending(path: "\(number).plist")))
      let value = try read(bytes)
      #expect(canonical(value) == line, "list \(number)")
      // Both this reader and plistlib read what this writer writes.
      let written = PropertyListWriter().bytes(of: value)
      #expect(try read(written) == value, "list \(number)")
      try Data(written).write(to: folder.appending(path: "\(number).plist"))
    }
    try python("verify", folder.path())
  }

  @Test func `truncated or modified bytes never trap`() throws {
    let headers: [PropertyListValue.Entry] = (0..<20).map {
      .init(key: Array("Header-\($0)".utf8), value: .text("value ä \($0)"))
    }
    let url = PropertyListValue.dictionary([
      .init(key: Array("_CFURLString".utf8), value: .text("https://example.com/")),
      .init(key: Array("_CFURLStringType".utf8), value: .integer(15)),
    ])
    let array = PropertyListValue.array([
      url, .real(7e8), .integer(0), .integer(200), .dictionary(headers), .integer(-1),
      .text("text/html"), .date(1), .data([1, 2, 3]), .uid(7), .boolean(true),
    ])
    let bytes = PropertyListWriter().bytes(
      of: .dictionary([.init(key: Array("Array".utf8), value: array)]))
    var errors = 0
    for length in 0..<bytes.count where (try? read(Array(bytes[..<length]))) == nil { errors += 1 }
    #expect(errors == bytes.count)
    for position in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[position] ^= 1 << UInt8(bit)
        _ = try? read(changed)
        try? exercise(changed)
      }
    }
  }

  @Test func `objects are found without reading the others`() throws {
    let bytes = PropertyListWriter().bytes(
      of: .dictionary([
        .init(key: Array("Array".utf8), value: .array([.text("ä"), .integer(-5)])),
        .init(key: Array("Version".utf8), value: .integer(9)),
      ]))
    let list = try BinaryPropertyList(bytes.span)
    let root = list.root
    let array = try #require(try list.value(forKey: "Array", in: root))
    let version = try #require(try list.value(forKey: "Version", in: root))
    #expect(try list.integer(version) == 9)
    #expect(try list.count(of: array) == 2)
    let first = try #require(try list.element(0, of: array))
    #expect(try list.utf8(first) == Array("ä".utf8))
    #expect(try list.integer(first) == nil)
    let second = try #require(try list.element(1, of: array))
    #expect(try list.integer(second) == -5)
    #expect(try list.element(2, of: array) == nil)
    #expect(try list.value(forKey: "Missing", in: root) == nil)
    #expect(try list.value(forKey: "Array", in: array) == nil)
  }

  @Test func `half of a surrogate pair is kept as bytes that are not UTF-8`() throws {
    let bytes = list([[0x62, 0xD8, 0x3D, 0x00, 0x61]])
    #expect(try read(bytes) == .string([0xED, 0xA0, 0xBD, 0x61]))
    #expect(try read(list([[0x62, 0xD8, 0x3D, 0xDE, 0x00]])) == .string(Array("😀".utf8)))
    let halves = list([[0x63, 0xD8, 0x3D, 0xD8, 0x3D, 0xDE, 0x00]])
    #expect(try read(halves) == .string([0xED, 0xA0, 0xBD] + Array("😀".utf8)))
  }

  @Test func `a shared object is not a cycle`() throws {
    let arrays = list([[0xA2, 1, 1], [0xA0]])
    #expect(try read(arrays) == .array([.array([]), .array([])]))
    let dictionaries = list([[0xA2, 1, 1], [0xD0]])
    #expect(try read(dictionaries) == .array([.dictionary([]), .dictionary([])]))
  }

  @Test func `each type is read by its own function only`() throws {
    let objects: [(BinaryPropertyList.Kind, [UInt8])] = [
      (.null, [0x00]), (.boolean, [0x08]), (.boolean, [0x09]), (.integer, [0x10, 0xFF]),
      (.integer, [0x11, 0xFF, 0xFF]), (.integer, [0x12, 0xFF, 0xFF, 0xFF, 0xFF]),
      (.integer, [0x13] + [UInt8](repeating: 0xFF, count: 8)),
      (.integer, [0x14] + [UInt8](repeating: 0xFF, count: 16)), (.real, [0x22, 0x3F, 0x80, 0, 0]),
      (.real, [0x23, 0xBF, 0xF0, 0, 0, 0, 0, 0, 0]), (.real, [0x23, 0x7F, 0xF0, 0, 0, 0, 0, 0, 0]),
      (.date, [0x33, 0xC0, 0, 0, 0, 0, 0, 0, 0]), (.data, [0x42, 1, 2]), (.string, [0x51, 0xE9]),
      (.string, [0x61, 0x00, 0xE9]), (.array, [0xA1, 0]), (.dictionary, [0xD1, 0, 0]),
      (.set, [0xC1, 0]), (.uid, [0x81, 1, 2]),
    ]
    let answers = try objects.map { kind, object in
      let bytes = list([object])
      let list = try BinaryPropertyList(bytes.span)
      let root = list.root
      #expect(try list.kind(of: root) == kind)
      var answers: [String] = []
      if let value = try list.boolean(root) { answers.append("\(value)") }
      if let value = try list.integer(root) { answers.append("integer \(value)") }
      if let value = try list.real(root) { answers.append("real \(value)") }
      if let value = try list.date(root) { answers.append("date \(value)") }
      if let value = try list.utf8(root) { answers.append("text \(value)") }
      if let value = try list.count(of: root) { answers.append("count \(value)") }
      if let value = try list.element(0, of: root) { answers.append("element \(value == root)") }
      if let value = try list.data(root) { answers.append("data \(value.count)") }
      return answers.joined(separator: ", ")
    }
    #expect(
      answers == [
        "", "false", "true", "integer 255", "integer 65535", "integer 4294967295", "integer -1",
        "integer -1", "real 1.0", "real -1.0", "real inf", "date -2.0", "data 2", "text [233]",
        "text [195, 169]", "count 1, element true", "count 1", "", "",
      ])
  }

  @Test func `keys are compared in both widths, and the first one wins`() throws {
    let bytes = list([
      [0xD4, 1, 2, 3, 1, 4, 5, 4, 5], [0x61, 0, 0x61], [0x62, 0, 0x61, 1, 0x62], [0x50], [0x08],
      [0x09],
    ])
    let list = try BinaryPropertyList(bytes.span)
    let first = try #require(try list.value(forKey: "a", in: list.root))
    #expect(try list.boolean(first) == false)
    let empty = try #require(try list.value(forKey: "", in: list.root))
    #expect(try list.boolean(empty) == false)
    #expect(try list.value(forKey: "ab", in: list.root) == nil)
    #expect(try list.isString(list.root, equalTo: "a") == false)
    let long = "a key that is longer than fifteen bytes"
    let other = PropertyListWriter().bytes(
      of: .dictionary([.init(key: Array(long.utf8), value: .boolean(true))]))
    let found = try BinaryPropertyList(other.span)
    #expect(try found.value(forKey: PropertyListKey(long), in: found.root) != nil)
  }

  @Test func `entries are asked for one by one`() throws {
    let bytes = PropertyListWriter().bytes(
      of: .dictionary([
        .init(key: [97], value: .integer(1)), .init(key: [98, 99], value: .integer(2)),
      ]))
    let list = try BinaryPropertyList(bytes.span)
    let entries = try #require(try list.entries(of: list.root))
    #expect(entries.count == 2)
    #expect(try list.utf8(list.key(0, of: entries)) == [97])
    #expect(try list.integer(list.value(0, of: entries)) == 1)
    #expect(try list.utf8(list.key(1, of: entries)) == [98, 99])
    #expect(try list.integer(list.value(1, of: entries)) == 2)
    #expect(try list.entries(of: list.key(0, of: entries)) == nil)
  }

  @Test func `iterating the keys of a set continues after an error`() throws {
    let bytes = list([
      [0xD4, 1, 3, 2, 4, 5, 5, 5, 5], [0x53] + Array("Age".utf8), [0x54] + Array("Date".utf8),
      [0x54] + Array("Vary".utf8), [0x5E] + Array("date".utf8), [0x09],
    ])
    let list = try BinaryPropertyList(bytes.span)
    let entries = try #require(try list.entries(of: list.root))
    let keys = PropertyListKeySet(["date", "age"])
    var position = 0
    var first = try list.next(in: entries, from: &position, whoseKeyIsIn: keys)
    #expect(first?.position == 0 && first?.place == 1 && position == 1)
    first = try list.next(in: entries, from: &position, whoseKeyIsIn: keys)
    #expect(first?.position == 2 && first?.place == 0 && position == 3)
    let error = #expect(throws: PropertyListError.self) {
      try list.next(in: entries, from: &position, whoseKeyIsIn: keys)
    }
    #expect(error?.code == .truncated && position == 4)
    #expect(try list.next(in: entries, from: &position, whoseKeyIsIn: keys) == nil)
  }

  @Test func `keys in a set are found regardless of case`() throws {
    let keys = PropertyListKeySet(["last-modified", "age", "expires", "etag", "expired", "date"])
    /// Returns the place of a key that is encoded as this object.
    func place(_ object: [UInt8]) throws -> Int? {
      let bytes = list([[0xD1, 1, 2], object, [0x09]])
      let list = try BinaryPropertyList(bytes.span)
      let entries = try #require(try list.entries(of: list.root))
      var position = 0
      let found = try list.next(in: entries, from: &position, whoseKeyIsIn: keys)
      #expect(position == 1 && found?.position ?? 0 == 0)
      return found?.place
    }
    func ascii(_ text: String) -> [UInt8] { [0x50 | UInt8(text.utf8.count)] + Array(text.utf8) }
    func wide(_ text: String) -> [UInt8] {
      [0x60 | UInt8(text.utf8.count)] + text.utf8.flatMap { [0, $0] }
    }
    for (text, expected) in [
      ("Last-Modified", 0), ("last-modified", 0), ("LAST-MODIFIED", 0), ("Age", 1), ("Expires", 2),
      ("eXPIRES", 2), ("ETag", 3), ("Expired", 4), ("Date", 5), ("Dates", nil), ("Dat", nil),
      ("", nil), ("Aga", nil), ("Expirex", nil), ("xxpires", nil), ("Last-Modifiex", nil),
      ("xast-Modified", nil), ("Last\rModified", nil), ("a\u{7}e", nil), ("Etag\0", nil),
      ("Content-Type", nil),
    ] as [(String, Int?)] {
      #expect(try place(ascii(text)) == expected, "\(text)")
      #expect(try place(wide(text)) == expected, "\(text) in UTF-16")
      let long = [0x5F, 0x10, UInt8(text.utf8.count)] + Array(text.utf8)
      #expect(try place(long) == expected, "\(text) with a long count")
    }
    #expect(try place([0x5F, 0x10, 15] + Array("content-encodin".utf8)) == nil)
    #expect(try place([0x09]) == nil)
    #expect(try place([0x44] + Array("date".utf8)) == nil)
    let error = #expect(throws: PropertyListError.self) { try place([0x5D, 0x4C]) }
    #expect(error?.code == .truncated)
  }

  /// Calls every function on every object that the first level refers to.
  private func exercise(_ bytes: [UInt8]) throws {
    let list = try BinaryPropertyList(bytes.span)
    var objects = [list.root]
    if let array = try? list.value(forKey: "Array", in: list.root) {
      objects.append(array)
      for position in 0..<12 {
        if let element = try? list.element(position, of: array) { objects.append(element) }
      }
    }
    for object in objects {
      _ = try? list.kind(of: object)
      _ = try? list.boolean(object)
      _ = try? list.integer(object)
      _ = try? list.real(object)
      _ = try? list.date(object)
      _ = try? list.count(of: object)
      _ = try? list.utf8(object)
      _ = try? list.data(object)
      _ = try? list.isString(object, equalTo: "text/html")
      _ = try? list.value(forKey: "_CFURLString", in: object)
      guard let entries = try? list.entries(of: object) else { continue }
      for position in 0..<entries.count {
        _ = try? list.utf8(list.key(position, of: entries))
        _ = try? list.utf8(list.value(position, of: entries))
      }
    }
  }

  private func python(_ arguments: String...) throws {
    let script = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "plistlib_oracle.py")
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", script.path()] + arguments
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  /// Returns a tree as one line of text, in the format of the script.
  private func canonical(_ value: PropertyListValue) -> String {
    func hexadecimal(_ bytes: [UInt8]) -> String {
      bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
    return switch value {
    case .null: "null"
    case .boolean(let value): value ? "true" : "false"
    case .integer(let value): "i\(value)"
    case .real(let value): "r" + String(value.bitPattern, radix: 16)
    case .date(let seconds): "t" + String(seconds.bitPattern, radix: 16)
    case .data(let bytes): "d" + hexadecimal(bytes)
    case .string(let bytes): "s" + hexadecimal(bytes)
    case .uid(let number): "u\(number)"
    case .opaque(let name): "o" + name
    case .array(let values): "[" + values.map(canonical).joined(separator: ",") + "]"
    case .dictionary(let entries):
      "{" + entries.map { hexadecimal($0.key) + ":" + canonical($0.value) }.joined(separator: ",")
        + "}"
    }
  }
}
