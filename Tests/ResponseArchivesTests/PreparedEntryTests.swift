import Archive
import Bytes
import Foundation
import ResponseStorage
import Testing

@testable import ResponseArchives

@Suite struct PreparedEntryTests {
  /// A part that is read piece by piece and returns different bytes on each read.
  private final class Readings {
    var rest: [String]

    init(_ rest: [String]) { self.rest = rest }

    var part: Body {
      Body(size: ByteCount(rest[0].utf8.count)) { [self] in
        BodyReader(Array(rest.removeFirst().utf8))
      }
    }
  }

  /// Writes an entry to a tar archive.
  private func tar(of raw: RawResponse) throws -> [UInt8] {
    var bytes: [UInt8] = []
    let export = ArchiveExport(.tar, generatorVersion: "1")
    var writer = try NativeArchiveWriter(
      ArchiveWriter(.tar) { bytes += $0 })
    var entry = export.entry(raw, number: 1)
    let prepared = try PreparedEntry(&entry)
    try writer.append(prepared, from: entry)
    #expect(writer.memberCount == Int64(1 + raw.parts.count))
    try writer.finish()
    return bytes
  }

  @Test(arguments: [RawResponse.Part.Name.userInfo, .body])
  func `a part that is read again must be unchanged`(name: RawResponse.Part.Name) throws {
    var raw = RawResponse(id: 7)
    raw.parts = [.init(name, Readings(["abc", "abc"]).part)]
    let archive = try tar(of: raw)
    #expect(archive.count % 512 == 0 && archive.contains(Array("abc\0".utf8)))

    raw.parts = [.init(name, Readings(["abc", "abd"]).part)]
    let error = #expect(throws: StoreError.self) { try tar(of: raw) }
    #expect(error?.code == .changedWhileReading)
  }

  @Test func `a body is written equally from memory and in pieces`() throws {
    var (read, whole) = (RawResponse(id: 7), RawResponse(id: 7))
    read.parts = [.init(.body, Readings(["abc", "abc"]).part)]
    whole.parts = [.init(.body, Body(Array("abc".utf8)))]
    #expect(try tar(of: read) == tar(of: whole))
  }

  @Test func `checksums have the format of sha256sum`() throws {
    var raw = RawResponse(id: 7)
    raw.parts = [
      .init(.requestObject, nil), .init(.userInfo, Readings(["abc"]).part),
      .init(.body, Body([])),
    ]
    let export = ArchiveExport(.tar, generatorVersion: "1")
    var exported = export.entry(raw, number: 12_345_678_901)
    let entry = try PreparedEntry(&exported)
    let document = try #require(
      String(decoding: entry.checksums, as: UTF8.self).split(separator: "\n").first)
    // The digests of "abc" and of the empty message are from FIPS 180-4.
    #expect(
      String(decoding: entry.checksums, as: UTF8.self) == """
        \(document)
        ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  entries/12345678901/user-info.plist
        e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  entries/12345678901/body

        """)
    #expect(document.hasSuffix("  entries/12345678901/entry.json"))
    #expect(entry.members.map(\.name) == [.userInfo, .body])
  }
}
