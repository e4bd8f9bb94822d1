import Foundation
import PropertyLists
import Testing

@Suite struct BinaryPropertyListTests {
  @Test func `what Python's plistlib writes is read as it was meant`() throws {
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
      // What we write, we read again, and so does plistlib.
      let written = PropertyListWriter().bytes(of: value)
      #expect(try read(written) == value, "list \(number)")
      try Data(written).write(to: folder.appending(path: "\(number).plist"))
    }
    try python("verify", folder.path())
  }

  @Test func `damage is an error and says which`() {
    let cases: [(String, [UInt8], PropertyListError.Code, String)] = [
      ("nothing", [], .notBinaryPropertyList, "not a binary property list"),
      (
        "XML", Array("<?xml version='1.0'?><plist/>".utf8), .xmlPropertyList,
        "an XML property list, which is not supported"
      ),
      ("header only", Array("bplist00".utf8), .truncated, "truncated at byte 8"),
      ("a list in itself", list([[0xA1, 0]]), .cyclic, "a container that holds itself at byte 8"),
      (
        "two lists in each other", list([[0xA1, 1], [0xA1, 0]]), .cyclic,
        "a container that holds itself at byte 8"
      ),
      (
        "a set", list([[0xC1, 1], [0x09]]), .unsupportedType,
        "an object of an unsupported type at byte 8"
      ),
      ("no type", list([[0x70]]), .unsupportedType, "an object of an unsupported type at byte 8"),
      ("a reference beyond the end", list([[0xA1, 9]]), .malformed, "malformed at byte 9"),
      (
        "2^60 elements", list([[0xAF, 0x13, 0x10, 0, 0, 0, 0, 0, 0, 0]]), .truncated,
        "truncated at byte 8"
      ),
      (
        "2^63 bytes", list([[0x4F, 0x13, 0x80, 0, 0, 0, 0, 0, 0, 0]]), .malformed,
        "malformed at byte 10"
      ),
      (
        "a date that is no number", list([[0x33, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0]]), .malformed,
        "malformed at byte 8"
      ),
      (
        "a key that is no string", list([[0xD1, 1, 1], [0x09]]), .malformed,
        "malformed at byte 11"
      ),
      (
        "nested too deep", list((1...100).map { [0xA1, UInt8($0)] } + [[0x09]]), .tooDeep,
        "nested too deep at byte 136"
      ),
      (
        "shared without end",
        list((1...40).map { [0xA2, UInt8($0), UInt8($0)] } + [[0x09]]), .tooManyObjects,
        "too many objects"
      ),
      (
        "one string 10,000 times",
        list(
          [[0xAF, 0x11, 0x27, 0x10] + [UInt8](repeating: 1, count: 10_000)]
            + [[0x5F, 0x11, 0x40, 0x00] + [UInt8](repeating: 97, count: 16_384)]),
        .tooLarge, "too large"
      ),
    ]
    for (name, bytes, code, words) in cases {
      let error = #expect(throws: PropertyListError.self, "\(name)") { try read(bytes) }
      #expect(error?.code == code, "\(name)")
      #expect(error?.description == words, "\(name)")
    }
  }

  @Test func `cut or changed bytes never end the process`() throws {
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
  }

  private func read(_ bytes: [UInt8]) throws -> PropertyListValue {
    let list = try BinaryPropertyList(bytes.span)
    return try list.value(of: list.root)
  }

  /// A list of objects given as their bytes, with references of one byte.
  private func list(_ objects: [[UInt8]]) -> [UInt8] {
    var bytes = Array("bplist00".utf8)
    var offsets: [UInt8] = []
    for object in objects {
      offsets += [UInt8(bytes.count >> 8 & 255), UInt8(bytes.count & 255)]
      bytes += object
    }
    let table = bytes.count
    func number(_ value: Int) -> [UInt8] { (0..<8).map { UInt8(value >> (56 - $0 * 8) & 255) } }
    return bytes + offsets + [0, 0, 0, 0, 0, 0, 2, 1] + number(objects.count) + number(0)
      + number(table)
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

  /// One line of text for a tree, as the script writes it.
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
    case .array(let values): "[" + values.map(canonical).joined(separator: ",") + "]"
    case .dictionary(let entries):
      "{" + entries.map { hexadecimal($0.key) + ":" + canonical($0.value) }.joined(separator: ",")
        + "}"
    }
  }
}
