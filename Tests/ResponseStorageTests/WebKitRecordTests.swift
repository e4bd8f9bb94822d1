import Bytes
import Files
import Testing

@testable import ResponseStorage

/// Writes values as WebKit's persistence encoder does.
private struct WebKitEncoder {
  private(set) var bytes: [UInt8] = []
  private var summed: [UInt8] = []

  mutating func put(_ type: UInt8, _ value: [UInt8]) {
    bytes += value
    summed += [type, 0, 0, 0] + value
  }

  mutating func number(_ value: some FixedWidthInteger, _ type: UInt8) {
    put(type, (0..<value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
  }

  mutating func flag(_ value: Bool) { put(3, [value ? 1 : 0]) }
  mutating func uint32(_ value: UInt32) { number(value, 11) }
  mutating func uint64(_ value: UInt64) { number(value, 13) }
  mutating func double(_ value: Double) { number(value.bitPattern, 29) }

  mutating func text(_ text: String?) {
    guard let text else { return uint32(.max) }
    uint32(UInt32(text.utf8.count))
    flag(true)
    put(101, Array(text.utf8))
  }

  mutating func wide(_ text: String) {
    uint32(UInt32(text.utf16.count))
    flag(false)
    put(101, text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] })
  }

  mutating func fields(_ fields: [(String, String?)]) {
    uint64(UInt64(fields.count))
    for (name, value) in fields {
      text(name)
      text(value)
    }
  }

  mutating func checksum() {
    var digest = SHA1Digest()
    digest.update(summed[...])
    bytes += digest.bytes
  }

  static func header(
    certificate: (inout WebKitEncoder) -> Void = { $0.flag(false) }, addressSpace: Bool = false
  ) -> [UInt8] {
    var encoder = WebKitEncoder()
    encoder.flag(false)
    encoder.text("http://a.example/#part")
    encoder.text("text/plain")
    encoder.number(Int64(5), 19)
    for text in [nil, "OK", "HTTP/1.1"] { encoder.text(text) }
    encoder.fields([("Vary", "Cookie, Accept"), ("ETag", "\"1\"")])
    encoder.number(Int16(203), 103)
    certificate(&encoder)
    for value: UInt64 in [1, 2, 0] { encoder.uint64(value) }
    encoder.flag(false)
    for value: UInt64 in [0, 0] { encoder.uint64(value) }
    encoder.flag(false)
    if addressSpace { encoder.uint64(2) }
    encoder.flag(true)
    encoder.fields([("Cookie", "id=1"), ("Accept", nil)])
    encoder.number(UInt8(0), 5)
    encoder.flag(true)
    encoder.double(604_800)
    encoder.checksum()
    return encoder.bytes
  }

  static func metadata(version: UInt32 = 17, seconds: Double = 1_000, inline: Bool = true)
    -> [UInt8]
  {
    var encoder = WebKitEncoder()
    encoder.uint32(version)
    for text in ["", "Resource", "http://a.example/", nil] { encoder.text(text) }
    for byte in [UInt8(1), 2] { encoder.put(101, .init(repeating: byte, count: 20)) }
    encoder.double(seconds)
    encoder.put(101, .init(repeating: 3, count: 20))
    encoder.uint64(7)
    encoder.put(101, .init(repeating: 4, count: 20))
    encoder.uint64(9)
    encoder.flag(inline)
    encoder.checksum()
    return encoder.bytes
  }
}

@Suite struct WebKitRecordTests {
  @Test func `the beginning of a record is decoded`() throws {
    let bytes = WebKitEncoder.metadata()
    let metadata = try WebKitMetadata((bytes + [1, 2, 3])[...])
    #expect(metadata.version == 17 && metadata.key.identifier == "http://a.example/")
    #expect(metadata.key.partition == "" && metadata.key.range == nil)
    #expect(metadata.headerSize == 7 && metadata.bodySize == 9 && metadata.isBodyInline)
    #expect(metadata.count == bytes.count && metadata.seconds == 1_000)
  }

  @Test func `a record of the Cache API is refused`() {
    #expect(throws: WebKitFormatError.self) {
      try WebKitMetadata(WebKitEncoder.metadata(seconds: 0)[...])
    }
  }

  @Test func `every layout of a certificate is found by the checksum`() throws {
    let certificates: [(inout WebKitEncoder) -> Void] = [
      { $0.flag(false) },
      { encoder in
        encoder.flag(true)
        encoder.uint64(1)
        encoder.uint32(3)
        encoder.put(101, [1, 2, 3])
        encoder.uint32(0)
      },
      { encoder in
        encoder.flag(true)
        encoder.flag(true)
        encoder.uint64(4)
        encoder.put(101, [1, 2, 3, 4])
      },
      { encoder in
        encoder.flag(true)
        encoder.uint64(2)
        encoder.flag(true)
        encoder.uint64(1)
        encoder.put(101, [1])
      },
    ]
    for certificate in certificates {
      for addressSpace in [false, true] {
        let bytes = WebKitEncoder.header(certificate: certificate, addressSpace: addressSpace)
        // The version only says which layout is tried first.
        for version: UInt32 in 16...19 {
          let response = try WebKitResponse(bytes[...], version: version)
          #expect(response.status == 203 && response.mimeType == "text/plain")
          #expect(response.fields.fields.map(\.name) == ["Vary", "ETag"])
          #expect(response.varyingFields.map(\.value) == ["id=1", nil])
          #expect(response.ageCap == 604_800 && response.redirect == nil)
        }
      }
    }
  }

  @Test func `text of 16-bit characters becomes UTF-8`() throws {
    var encoder = WebKitEncoder()
    encoder.wide("日本 é")
    encoder.text("")
    encoder.text(nil)
    var decoder = WebKitDecoder(encoder.bytes[...])
    #expect(try decoder.text() == "日本 é")
    #expect(try decoder.text() == "")
    #expect(try decoder.text() == nil)
  }

  @Test func `no change of a byte is accepted`() throws {
    var random = SystemRandomNumberGenerator()
    for whole in [
      WebKitEncoder.metadata(), WebKitEncoder.header(), WebKitEncoder.header(addressSpace: true),
    ] {
      func isAccepted(_ bytes: [UInt8]) -> Bool {
        whole.count == WebKitEncoder.metadata().count
          ? (try? WebKitMetadata(bytes[...])) != nil
          : (try? WebKitResponse(bytes[...], version: 17)) != nil
      }
      #expect(isAccepted(whole))
      for count in 0..<whole.count { #expect(!isAccepted(Array(whole[..<count]))) }
      for place in whole.indices {
        for bit in 0..<8 {
          var changed = whole
          changed[place] ^= 1 << bit
          #expect(!isAccepted(changed), "byte \(place), bit \(bit)")
        }
      }
      for _ in 0..<2_000 {
        var changed = whole
        for _ in 0..<Int.random(in: 1...8, using: &random) {
          changed[Int.random(in: 0..<whole.count, using: &random)] = UInt8.random(
            in: 0 ... .max, using: &random)
        }
        #expect(changed == whole || !isAccepted(changed))
      }
    }
  }

  @Test(arguments: [0, 1, 40, 60, 100])
  func `huge counts and lengths are refused`(_ place: Int) {
    var bytes = [UInt8](repeating: 0xFF, count: 200)
    bytes[0] = place == 0 ? 0 : 1
    #expect(throws: WebKitFormatError.self) { try WebKitResponse(bytes[...], version: 17) }
    #expect(throws: WebKitFormatError.self) { try WebKitSubresources(bytes[...]) }
    var encoder = WebKitEncoder()
    for _ in 0..<place { encoder.flag(false) }
    encoder.uint64(UInt64(Int64.max))
    #expect(throws: WebKitFormatError.self) { try WebKitSubresources(encoder.bytes[place...]) }
  }

  @Test func `keys of all versions have the hash that WebKit computes`() {
    let salt: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
    var digest = SHA1Digest()
    digest.update((salt + Array("a.examplehttp://b/".utf8))[...])
    #expect(
      WebKitKey.hash(["a.example", "http://b/", nil], salt: salt, version: 17) == digest.bytes)
    digest = SHA1Digest()
    digest.update((salt + Array("a.example\0http://b/\0".utf8))[...])
    #expect(
      WebKitKey.hash(["a.example", "http://b/", nil], salt: salt, version: 16) == digest.bytes)
  }

  @Test(
    arguments: [
      ("Version 17", 17), ("Version 1", 1), ("Version 0", nil), ("Version 017", nil),
      ("Version", nil), ("Version 17 ", nil), ("version 17", nil), ("Version 9999999", nil),
      ("Version -1", nil), ("Version +1", nil),
    ] as [(String, UInt32?)])
  func `the name of a version is written in one way`(_ name: String, _ number: UInt32?) {
    #expect(WebKitFiles.number(ofVersion: Array(name.utf8)) == number)
  }
}
