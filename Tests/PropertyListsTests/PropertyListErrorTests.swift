import PropertyLists
import Testing

@Suite struct PropertyListErrorTests {
  @Test func `damage is reported with a specific error`() {
    let cases: [(String, [UInt8], PropertyListError.Code, String)] = [
      ("nothing", [], .notBinaryPropertyList, "not a binary property list"),
      (
        "XML", Array("<?xml version='1.0'?><plist/>".utf8), .xmlPropertyList,
        "an XML property list, which is not supported"
      ),
      ("header only", Array("bplist00".utf8), .truncated, "truncated at byte 8"),
      ("a list in itself", list([[0xA1, 0]]), .cyclic, "a container contains itself at byte 8"),
      (
        "two lists in each other", list([[0xA1, 1], [0xA1, 0]]), .cyclic,
        "a container contains itself at byte 8"
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
        "nested too deeply at byte 136"
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
      ("a web page", Array("<html>".utf8), .notBinaryPropertyList, "not a binary property list"),
      (
        "half a header", Array("bplist0".utf8), .notBinaryPropertyList, "not a binary property list"
      ),
      ("version 01", Array("bplist01".utf8), .notBinaryPropertyList, "not a binary property list"),
      (
        "XML after a mark", [0xEF, 0xBB, 0xBF, 0x3C], .xmlPropertyList,
        "an XML property list, which is not supported"
      ),
      (
        "XML in UTF-16", [0xFF, 0xFE, 0x3C, 0x00], .xmlPropertyList,
        "an XML property list, which is not supported"
      ),
      (
        "XML without a declaration", Array("<plist>".utf8), .xmlPropertyList,
        "an XML property list, which is not supported"
      ),
      ("no offset size", list([[9]], offsetSize: 0), .malformed, "malformed at byte 11"),
      ("a large offset size", list([[9]], offsetSize: 9), .malformed, "malformed at byte 11"),
      ("no reference size", list([[9]], referenceSize: 0), .malformed, "malformed at byte 11"),
      ("a large reference size", list([[9]], referenceSize: 9), .malformed, "malformed at byte 11"),
      ("no objects", list([[9]], count: 0), .malformed, "malformed at byte 11"),
      ("2^60 objects", list([[9]], count: 1 << 60), .malformed, "malformed at byte 11"),
      ("-1 objects", list([[9]], count: -1), .malformed, "malformed at byte 11"),
      ("a root beyond the end", list([[9]], root: 1), .malformed, "malformed at byte 11"),
      ("a negative root", list([[9]], root: -1), .malformed, "malformed at byte 11"),
      ("a table in the header", list([[9]], table: 8), .malformed, "malformed at byte 11"),
      ("a table in the trailer", list([[9]], table: 11), .malformed, "malformed at byte 11"),
      ("a table at 2^63 - 1", list([[9]], table: .max), .malformed, "malformed at byte 11"),
      ("an object beyond the table", list([[9]], table: 10), .malformed, "malformed at byte 11"),
      (
        "an object in the header", list([[9]], offsetSize: 1, count: 2), .malformed,
        "malformed at byte 9"
      ),
      (
        "a reference to 2^63 - 1", list([[0xA1] + number(.max)], referenceSize: 8), .malformed,
        "malformed at byte 9"
      ),
      (
        "a reference to 2^64 - 1", list([[0xA1] + number(-1)], referenceSize: 8), .malformed,
        "malformed at byte 9"
      ),
      (
        "a key that is 2^63 - 1", list([[0xD1] + number(.max) + number(0)], referenceSize: 8),
        .malformed, "malformed at byte 9"
      ),
      (
        "2^62 entries", list([[0xDF, 0x13] + number(1 << 62)]), .truncated, "truncated at byte 8"
      ),
      (
        "2^60 bytes of text", list([[0x5F, 0x13] + number(1 << 60)]), .truncated,
        "truncated at byte 8"
      ),
      (
        "2^62 units of text", list([[0x6F, 0x13] + number(1 << 62)]), .truncated,
        "truncated at byte 8"
      ),
      ("a count that is cut off", list([[0x5F]]), .truncated, "truncated at byte 8"),
      ("half a count", list([[0x5F, 0x11, 0x01]]), .truncated, "truncated at byte 8"),
      ("a count that is no number", list([[0x5F, 0x51, 0x61]]), .malformed, "malformed at byte 9"),
      ("text that is cut off", list([[0x55, 97]]), .truncated, "truncated at byte 8"),
      ("half a unit of text", list([[0x61, 0x00]]), .truncated, "truncated at byte 8"),
      ("data that is cut off", list([[0x42, 1]]), .truncated, "truncated at byte 8"),
      ("an integer that is cut off", list([[0x13, 1]]), .truncated, "truncated at byte 8"),
      ("a real that is cut off", list([[0x23, 1]]), .truncated, "truncated at byte 8"),
      ("a date that is cut off", list([[0x33, 1]]), .truncated, "truncated at byte 8"),
      ("a reference that is cut off", list([[0xA2, 0]]), .truncated, "truncated at byte 8"),
      (
        "an integer that does not fit", list([[0x14] + number(0) + number(-1)]), .malformed,
        "malformed at byte 8"
      ),
      (
        "an integer far too large", list([[0x14] + number(1) + number(1)]), .malformed,
        "malformed at byte 8"
      ),
      (
        "an integer of 32 bytes", list([[0x15] + [UInt8](repeating: 0, count: 32)]),
        .unsupportedType, "an object of an unsupported type at byte 8"
      ),
      (
        "a real of two bytes", list([[0x21, 0, 0]]), .unsupportedType,
        "an object of an unsupported type at byte 8"
      ),
      (
        "a date of four bytes", list([[0x32, 0, 0, 0, 0]]), .unsupportedType,
        "an object of an unsupported type at byte 8"
      ),
      ("an identifier of 16 bytes", list([[0x8F]]), .malformed, "malformed at byte 8"),
      (
        "an infinite date", list([[0x33, 0x7F, 0xF0, 0, 0, 0, 0, 0, 0]]), .malformed,
        "malformed at byte 8"
      ),
      ("a reference to the end", list([[0xA1, 1]]), .malformed, "malformed at byte 9"),
      ("an object in the table", list([[9, 0, 9]], table: 9), .malformed, "malformed at byte 9"),
      (
        "a dictionary in itself", list([[0xD1, 1, 0], [0x51, 97]]), .cyclic,
        "a container contains itself at byte 8"
      ),
    ]
    for (name, bytes, code, words) in cases {
      let error = #expect(throws: PropertyListError.self, "\(name)") { try read(bytes) }
      #expect(error?.code == code, "\(name)")
      #expect(error?.description == words, "\(name)")
    }
  }

  @Test func `lists up to the limits are read, larger ones are refused`() throws {
    let nested = list([[0xA1, 1], [0xA1, 2], [0xA0]])
    let limits = PropertyListLimits(
      maximumBytes: nested.count, maximumDepth: 3, maximumVisits: 3, maximumDecodedBytes: 0)
    #expect(try read(nested, limits: limits) == .array([.array([.array([])])]))
    #expect(code(nested, limits) { $0.maximumBytes -= 1 } == .tooLarge)
    #expect(code(nested, limits) { $0.maximumDepth -= 1 } == .tooDeep)
    #expect(code(nested, limits) { $0.maximumVisits -= 1 } == .tooManyObjects)
    // Keys are visited and decoded too.
    let entry = list([[0xD1, 1, 1], [0x61, 0x20, 0xAC]])
    let wide = PropertyListLimits(maximumVisits: 3, maximumDecodedBytes: 6)
    let euro = Array("€".utf8)
    #expect(try read(entry, limits: wide) == .dictionary([.init(key: euro, value: .string(euro))]))
    #expect(code(entry, wide) { $0.maximumVisits -= 1 } == .tooManyObjects)
    #expect(code(entry, wide) { $0.maximumDecodedBytes -= 1 } == .tooLarge)
  }

  @Test func `walks through the entries are limited`() throws {
    let bytes = list([[0xD2, 1, 1, 1, 1], [0x51, 97]])
    let list = try BinaryPropertyList(bytes.span, limits: .init(maximumVisits: 1))
    let walk = #expect(throws: PropertyListError.self) {
      _ = try list.entries(of: list.root)
    }
    #expect(walk?.code == .tooManyObjects)
    let search = #expect(throws: PropertyListError.self) {
      _ = try list.value(forKey: "a", in: list.root)
    }
    #expect(search?.code == .tooManyObjects)
    #expect(try list.count(of: list.root) == 2)
  }

  @Test func `an object from a larger list is an error`() throws {
    let small = list([[0x09]])
    for index in [1, 2, 199] as [UInt8] {
      let large = list([[0xA1, index]] + [[UInt8]](repeating: [0x09], count: 199))
      let object = try element(of: large)
      let list = try BinaryPropertyList(small.span)
      let error = #expect(throws: PropertyListError.self) { _ = try list.kind(of: object) }
      #expect(error?.description == "malformed at byte 9", "object \(index)")
    }
  }

  private func element(of bytes: [UInt8]) throws -> BinaryPropertyList.Object {
    let list = try BinaryPropertyList(bytes.span)
    return try #require(try list.element(0, of: list.root))
  }

  private func code(
    _ bytes: [UInt8], _ limits: PropertyListLimits, _ change: (inout PropertyListLimits) -> Void
  ) -> PropertyListError.Code? {
    var limits = limits
    change(&limits)
    do {
      _ = try read(bytes, limits: limits)
      return nil
    } catch {
      return (error as? PropertyListError)?.code
    }
  }
}
