import Bytes
import Testing

@testable import ResponseStorage

@Suite struct FoundationFileNameTests {
  private static let suffix = ".storedcachedurlresponse"

  @Test(arguments: [
    ("12.YQA=", Int64(12), "YQA="), ("-1.YQA=", -1, "YQA="), ("+7.", 7, ""), ("007.x", 7, "x"),
    ("9223372036854775807.x", Int64.max, "x"),
  ])
  func `a name consists of seconds and a key`(stem: String, seconds: Int64, key: String) throws {
    let name = try #require(FoundationFileName(Array((stem + Self.suffix).utf8)))
    #expect(name.kind == .response(seconds: seconds, key: Array(key.utf8)))
    #expect(name.id == ByteString(stem))
    #expect(FoundationFileName(of: name.id) == name)
    #expect(StoredResponse.ID(stem) == .file(name.id))
  }

  @Test(arguments: [
    "12", "a.b", "12.a.b", "92233720368547758070.x", ".x", " 1.x", "1_0.x",
    "12.x.storedcachedurlresponse",
  ])
  func `a name that Foundation does not see is no id`(stem: String) throws {
    let bytes = Array((stem + Self.suffix).utf8)
    let name = try #require(FoundationFileName(bytes))
    #expect(name.kind == .unseen)
    #expect(name.id.bytes == bytes)
    #expect(FoundationFileName(of: name.id) == nil)
  }

  @Test func `an uppercase suffix becomes part of the id`() throws {
    let bytes = Array("12.YQA=.StoredCachedURLResponse".utf8)
    let name = try #require(FoundationFileName(bytes))
    #expect(name.kind == .response(seconds: 12, key: Array("YQA=".utf8)))
    #expect(name.id.bytes == bytes)
    #expect(FoundationFileName(of: name.id) == name)
  }

  @Test func `no two names have the same id`() {
    let stems = ["12.a", "12", "12.storedcachedurlresponse", ".dat.nosync1", ".dat.nosync1.a"]
    let texts = stems.flatMap { [$0, $0 + Self.suffix, $0 + Self.suffix + Self.suffix] }

    let names = Set(texts).compactMap { FoundationFileName(Array($0.utf8)) }
    #expect(names.count == 11)
    #expect(Set(names.map(\.id)).count == names.count)
    // Only entries are found by id.
    for name in names { #expect(FoundationFileName(of: name.id) == (name.isSeen ? name : nil)) }
  }

  @Test func `a temporary file is recognised by the start of its name`() {
    let name = FoundationFileName(Array(".dat.nosync3f2.Ab3dEf".utf8))
    #expect(name?.kind == .temporary)
    #expect(name?.id == ".dat.nosync3f2.Ab3dEf")
  }

  @Test(arguments: ["", "Cache.db", "storedcachedurlresponse", "12.a.txt", ".dat"])
  func `other names do not belong to the store`(name: String) {
    #expect(FoundationFileName(Array(name.utf8)) == nil)
  }

  @Test(arguments: ["../12.a", "/12.a", "12.a/b", "12.\0", "Cache.db", "a/.dat.nosync1", "12", "é"])
  func `an invalid file name is not an id`(id: String) {
    #expect(FoundationFileName(of: ByteString(id)) == nil)
  }
}

@Suite struct FoundationKeyTests {
  @Test(arguments: [
    ("https://a.example/b", "a.example|-1|/b|"), ("http://A.Example:80", "a.example|80||"),
    ("http://u:p@a.example:8080/?q#f", "a.example|8080|/|"), ("http://[::1]/a/", "::1|-1|/a|"),
    ("http://a.example/%E6%97%A5%2F", "a.example|-1|/日|"),
    ("http://a.example/%FF", "a.example|-1||"),
    ("http://a.example:/x;p=1", "a.example|-1|/x;p=1|"), ("http://b%C3%BC/", "bü|-1|/|"),
    ("http://a.example/a%00b", "a.example|-1|/a|b|"), ("http://a.example:0080/", "a.example|80|/|"),
    ("http://a.example:0/", "a.example|0|/|"),
    ("http://B\u{FC}cher.example/", "xn--bcher-kva.example|-1|/|"),
    ("http://\u{4F8B}\u{3048}.example/", "xn--r8jz45g.example|-1|/|"),
    ("http://a.\u{645}\u{635}\u{631}/", "a.xn--wgbh1c|-1|/|"),
  ])
  func `the key of a URL is its host, port and path`(url: String, key: String) throws {
    let made = try #require(FoundationKey(of: ByteString(url)))
    let bytes = Array(key.utf8).map { $0 == UInt8(ascii: "|") ? 0 : $0 }
    #expect(made.text.bytes == bytes)
    #expect(FoundationKey(base64: Base64.encode(bytes)) == made)
  }

  @Test(arguments: [
    ("https://u@a.example/b?c", "a.example/b"), ("http://[::1]:8080/", "[::1]:8080/"),
    ("http://a.example", "a.example"),
  ])
  func `a key is displayed as part of a URL`(url: String, shown: ByteString) {
    #expect(FoundationKey(of: ByteString(url))?.shown == shown)
  }

  @Test(arguments: ["file:///a", "data:,a", "mailto:a@b.example", "a/b", ""])
  func `a URL without a host has no key`(url: String) {
    #expect(FoundationKey(of: ByteString(url)) == nil)
  }

  @Test(arguments: ["", "YQ", "YQ==", "!!!!", "YQBiAA=="])
  func `invalid Base64 is not a key`(base64: String) {
    #expect(FoundationKey(base64: Array(base64.utf8)) == nil)
  }

  @Test func `a key whose Base64 has a slash, or is too long, has no file`() throws {
    let slash = try #require(FoundationKey(of: "http://h.example/%E6%97%A5%E6%9C%AC%3F"))
    #expect(slash.fileName(storedAt: 0) == nil)
    let host = "http://h.example/"
    let fits = try #require(
      FoundationKey(of: ByteString(host + String(repeating: "a", count: 149))))
    let long = try #require(
      FoundationKey(of: ByteString(host + String(repeating: "a", count: 151))))
    #expect(fits.fileName(storedAt: 800_000_000)?.bytes.count == 254)
    #expect(long.fileName(storedAt: 800_000_000) == nil)
  }
}
