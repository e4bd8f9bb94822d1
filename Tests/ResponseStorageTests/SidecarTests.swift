import Bytes
import Files
import Foundation
import PropertyLists
import ResponseStorage
import Testing

/// Compares sidecar files with the archiver, hashes and digests of other programs.
@Suite struct SidecarTests {
  private static let tags = [
    #""2e681a-6-5d044840""#, #"W/"é😀""#, "unquoted", #"""#, "$null?", "a",
    String(repeating: "x", count: 8_192),
  ]

  @Test func `strings archived by Foundation are read`() throws {
    for tag in Self.tags {
      for root in [tag as NSString, NSMutableString(string: tag)] {
        for isSecure in [true, false] {
          let archive = try NSKeyedArchiver.archivedData(
            withRootObject: root, requiringSecureCoding: isSecure)
          #expect(try ETagArchive.tag(in: Array(archive)) == ByteString(tag))
        }
      }
    }
  }

  @Test func `archives are identical to Foundation's`() throws {
    for tag in Self.tags {
      let bytes = try #require(ETagArchive.bytes(of: ByteString(tag)))
      let stock = try NSKeyedArchiver.archivedData(
        withRootObject: tag as NSString, requiringSecureCoding: true)
      #expect(bytes.count == stock.count)
      #expect(try parts(Data(bytes)) == parts(stock))
      let text = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSString.self, from: Data(bytes))
      #expect(text?.isEqual(to: tag) == true)
    }
  }

  @Test func `strings that cannot be read back are not written`() {
    for tag in [
      [], [0xFF], [0x41, 0x0A], Array("$null".utf8), .init(repeating: 0x41, count: 8_193),
    ] {
      #expect(ETagArchive.bytes(of: ByteString(tag as [UInt8])) == nil)
    }
  }

  @Test func `anything but an archived string is refused with the reason`() throws {
    let archives: [(Any, String)] = [
      ("", "its string is empty"), ("a\r\nb", Self.controls), ("a\u{7F}", Self.controls),
      (String(repeating: "x", count: 8_193), "its string is longer than 8192 bytes"),
      (["a"] as NSArray, Self.another), (5 as NSNumber, Self.another), (Data([1]), Self.another),
      (try #require(NSURL(string: "https://a.example/")), Self.another),
      (NSUUID(), Self.another),
    ]
    for (root, reason) in archives {
      let archive = try NSKeyedArchiver.archivedData(
        withRootObject: root, requiringSecureCoding: false)
      #expect(refusal(of: Array(archive)) == reason)
    }
    let noArchive = "it is not a readable keyed archive"
    #expect(refusal(of: []) == noArchive)
    #expect(refusal(of: Array("\"etag\"".utf8)) == noArchive)
    #expect(refusal(of: PropertyListWriter().bytes(of: .text("etag"))) == noArchive)
    #expect(
      refusal(of: .init(repeating: 0x62, count: 32_769)) == "it is larger than 32768 bytes")
  }

  @Test func `damaged archives never trap`() throws {
    var random = Random(seed: 7)
    let whole = try #require(ETagArchive.bytes(of: #""2e681a-6-5d044840""#))
    var refused = 0
    for _ in 0..<20_000 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
      }
      if Bool.random(using: &random) {
        bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random))
      }
      if let tag = try? ETagArchive.tag(in: bytes) {
        #expect(!tag.bytes.isEmpty && tag.bytes.allSatisfy { $0 >= 0x20 })
      } else {
        refused += 1
      }
    }
    #expect(refused > 10_000)
  }

  @Test func `any text without control characters is read back`() throws {
    var random = Random(seed: 8)
    for _ in 0..<2_000 {
      let scalars = (0..<Int.random(in: 1...60, using: &random)).map { _ in
        Unicode.Scalar(UInt32.random(in: 0x20...0xD7FF, using: &random)) ?? "a"
      }
      var text = String(String.UnicodeScalarView(scalars))
      text.unicodeScalars.removeAll { $0.value == 0x7F }
      guard !text.isEmpty else { continue }
      let bytes = try #require(ETagArchive.bytes(of: ByteString(text)))
      #expect(try ETagArchive.tag(in: bytes) == ByteString(text))
      let stock = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSString.self, from: Data(bytes))
      #expect((stock as String?).map { Array($0.utf8) } == Array(text.utf8))
    }
  }

  @Test func `the hash of a string matches Foundation`() {
    var random = Random(seed: 9)
    for length in Array(0...200) + [1_000, 4_095] {
      let units = (0..<length).map { _ in UInt8.random(in: 0x21...0x7E, using: &random) }
      let text = "h" + String(decoding: units, as: UTF8.self)
      let own = SidecarNaming.cfHash.name(of: ByteString(text))
      #expect(own == ByteString(String(UInt(bitPattern: (text as NSString).hash))))
    }
    #expect(SidecarNaming.cfHash.name(of: "https://a.example/é") == nil)
  }

  @Test func `the names of a URL are the expected digests`() {
    // From `printf %s https://a.example/b?c=d | md5sum`, and so on.
    let url: ByteString = "https://a.example/b?c=d"
    #expect(SidecarNaming.md5.name(of: url) == "f0f31410e1408b8b039864cbb9f85f6e")
    #expect(SidecarNaming.sha1.name(of: url) == "ac7fdb5bee4400339bad50adce7be3563a1c95c5")
    #expect(
      SidecarNaming.sha256.name(of: url)
        == "b70d63ba874d3a55894c466887289fc18248f66a17ff58c16d0c9b5b148e3f2c")
    for name in SidecarNaming.names(of: url) {
      #expect(name.naming.mayMake(name.text.bytes))
      #expect(name.naming.name(of: url) == name.text)
    }
    #expect(
      SidecarNaming.names(of: ByteString([0x68, 0xFF])).map(\.naming).contains(.cfHash) == false)
  }

  @Test func `a folder lists regular files only and follows no links`() throws {
    let folder = try SidecarTrialFolder()
    let url: ByteString = "https://a.example/1"
    let name = try #require(SidecarNaming.sha1.name(of: url)?.string)
    try folder.write("outside", #require(ETagArchive.bytes(of: "o")))
    try folder.write("etags/\(name)", #require(ETagArchive.bytes(of: "t")))
    try folder.write("etags/.DS_Store", [1])
    try folder.write("etags/12", [1])
    try folder.link("etags/34", to: "../outside")
    try FileManager.default.createDirectory(
      atPath: folder.path("etags/56"), withIntermediateDirectories: false)
    let sidecars = try SidecarFolder(folder.path("etags"))
    #expect(sidecars.others == [".DS_Store"])
    #expect(sidecars.files.count == 4)
    #expect(sidecars.sidecar(of: url)?.tag == "t")
    #expect(sidecars.sidecar(of: "https://a.example/2") == nil)
    for (name, reason) in [
      ("12", "it is not a readable keyed archive"), ("34", "it is a symbolic link"),
      ("56", "it is a folder"),
    ] {
      let file = try #require(sidecars.files[ByteString(name)])
      #expect(file.content == .unreadable(reason))
      #expect(try !sidecars.remove(file))
    }
    try folder.link("link", to: "etags")
    #expect(throws: FileError.symbolicLink(at: folder.path("link"))) {
      try SidecarFolder(folder.path("link"))
    }
    #expect(try Set(folder.names("etags")) == [".DS_Store", "12", "34", "56", name])
    #expect(try folder.names("") == ["etags", "link", "outside"])
  }

  @Test func `changed files are kept and existing files are not overwritten`() throws {
    let folder = try SidecarTrialFolder()
    let name = try #require(SidecarNaming.md5.name(of: "https://a.example/1"))
    let other = try #require(SidecarNaming.md5.name(of: "https://a.example/2"))
    let text = try #require(name.string)
    try folder.write("etags/\(text)", #require(ETagArchive.bytes(of: "t")))
    let sidecars = try SidecarFolder(folder.path("etags"))
    let file = try #require(sidecars.files[name])
    try folder.write("etags/\(text)", #require(ETagArchive.bytes(of: "new")))
    #expect(try !sidecars.remove(file))
    #expect(try !sidecars.create(name, holding: "mine"))
    #expect(try sidecars.create(other, holding: "mine"))
    #expect(try !sidecars.create(".etag", holding: "mine"))
    let after = try SidecarFolder(folder.path("etags"))
    #expect(after.files[name]?.tag == "new" && after.files[other]?.tag == "mine")
    #expect(try after.remove(#require(after.files[name])))
    #expect(try folder.names("etags") == [other.string])
  }

  private static let another = "it does not contain a string"
  private static let controls =
    "its string contains control characters, which header fields cannot contain"

  private func refusal(of bytes: [UInt8]) -> String? {
    do throws(ETagArchive.Refusal) {
      _ = try ETagArchive.tag(in: bytes)
      return nil
    } catch {
      return error.description
    }
  }

  /// Returns the contents of an archive, independent of key order.
  private func parts(_ archive: Data) throws -> [String] {
    let list = try unsafe PropertyListSerialization.propertyList(from: archive, format: nil)
    let members = try #require(list as? [String: Any])
    return members.map { key, value in
      // The description of a UID contains an address.
      "\(key): \("\(value)".replacing(/0x[0-9a-f]+/, with: ""))"
    }.sorted()
  }
}

/// A temporary folder with a subfolder `etags`, removed with this object.
private final class SidecarTrialFolder {
  private let root = NSTemporaryDirectory() + "sidecars-\(UUID().uuidString)"

  init() throws {
    try FileManager.default.createDirectory(
      atPath: path("etags"), withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: root) }

  func path(_ name: String) -> String { name.isEmpty ? root : root + "/" + name }

  func write(_ name: String, _ bytes: [UInt8]) throws {
    try Data(bytes).write(to: URL(filePath: path(name)), options: .atomic)
  }

  func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: path(name), withDestinationPath: target)
  }

  func names(_ name: String) throws -> [String?] {
    try FileManager.default.contentsOfDirectory(atPath: path(name)).sorted()
  }
}

/// A random number generator with the same sequence in every run: linear congruential.
private struct Random: RandomNumberGenerator {
  var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ (state >> 29)
  }
}
