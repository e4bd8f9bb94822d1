import Archive
import Bytes
import Files
import Foundation
import TestSupport
import Testing

@testable import ResponseArchives

@Suite struct WACZContentsTests {
  private typealias Member = (name: String, contents: [UInt8], isCompressed: Bool)

  private static let folder = NSTemporaryDirectory()

  /// Numbers as text, which differ from member to member and can be compressed.
  private static func numbers(from first: Int, _ size: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    var number = first
    while bytes.count < size {
      bytes += "\(number) ".utf8
      number += 1
    }
    return Array(bytes.prefix(size))
  }

  // The buffers that are compared have 64 KiB.
  private static let warcs: [Member] = [
    ("archive/a.warc", numbers(from: 0, 200_000), false),
    ("archive/b.warc", numbers(from: 1_000_000, 65_536), false),
    ("archive/empty.warc", [], false),
    ("archive/c.warc", numbers(from: 2_000_000, 300_001), true),
    ("archive/d.warc", numbers(from: 3_000_000, 65_537), true),
    ("archive/e.warc", numbers(from: 4_000_000, 1), false),
    ("archive/f.warc", numbers(from: 5_000_000, 131_073), false),
  ]

  /// Writes a WACZ, and opens it.
  private func file(_ members: [Member]) throws -> ArchiveFile {
    let path = "\(Self.folder)/\(UUID().uuidString).wacz"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let resources = members.map { member in
      "{\"path\":\"\(member.name)\",\"hash\":\"sha256:\(Digest(of: member.contents).hexadecimal)\"}"
    }
    let package = Array("{\"resources\":[\(resources.joined(separator: ","))]}".utf8)
    var zip: [UInt8] = []
    var writer = try ArchiveWriter(.zip) { zip += $0 }
    for member in members + [(WACZ.packageName, package, true)] {
      try writer.begin(
        member.name, size: Int64(member.contents.count), isCompressed: member.isCompressed)
      try writer.append(member.contents[...])
    }
    try writer.finish()
    try Data(zip).write(to: URL(fileURLWithPath: path))
    return try ArchiveFile(path)
  }

  @Test func `only what the WACZ has compressed is extracted`() throws {
    let members = [("archive.txt", [0x61], false)] + Self.warcs
    var (stored, extracted) = (0, [UInt8]())
    try WACZUnpacking(
      FileBytes(file(members)), at: "x.wacz", limits: ArchiveLimits()
    ).run { piece in
      switch piece {
      case .stored(_, let count): stored += count
      case .extracted(let bytes): extracted += bytes
      }
    }
    #expect(stored == Self.warcs.reduce(0) { $0 + ($1.isCompressed ? 0 : $1.contents.count) })
    let isExtracted = extracted == Self.warcs.flatMap { $0.isCompressed ? $0.contents : [] }
    #expect(isExtracted)
  }

  @Test func `the WARC files are read as one, from any place`() throws {
    let expected = Self.warcs.flatMap(\.contents)
    let contents = try WACZContents(of: file(Self.warcs), limits: ArchiveLimits())
    let bytes = contents.bytes
    var random = SplitMix64(seed: 1)
    // The first ones wait for bytes that were not read yet.
    let places =
      [expected.count - 1] + (0..<500).map { _ in .random(in: 0..<expected.count, using: &random) }
    for place in places {
      var buffer = [UInt8](repeating: 0, count: .random(in: 1...100_000, using: &random))
      let count = try bytes.read(&buffer, Int64(place))
      #expect(count > 0)
      let isRight = buffer[..<count] == expected[place...].prefix(count)
      #expect(isRight, "\(buffer.count) bytes at \(place)")
    }
    var whole: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while case let count = try bytes.read(&buffer, Int64(whole.count)), count > 0 {
      whole += buffer[..<count]
    }
    let isWhole = whole == expected
    #expect(isWhole)
    #expect(bytes.size() == ByteCount(expected.count))
    try contents.wait()
  }

  @Test func `a place that is not there has no bytes`() throws {
    let bytes = try WACZContents(of: file(Self.warcs), limits: ArchiveLimits()).bytes
    var buffer: [UInt8] = [0]
    for place: Int64 in [bytes.size().bytes, bytes.size().bytes + 1, .max - 1] {
      #expect(try bytes.read(&buffer, place) == 0)
    }
  }

  @Test func `an error of the verification reaches the reader`() throws {
    let file = try file([
      ("archive/a.warc", [0x61], false), ("archive/b.warc.zst", [0x28, 0xB5, 0x2F, 0xFD], false),
    ])
    let contents = try WACZContents(of: file, limits: ArchiveLimits())
    let words = "its WARC files are compressed in different ways, which is not supported"
    var buffer = [UInt8](repeating: 0, count: 10)
    for action in [{ _ = try contents.bytes.read(&buffer, 1 << 20) }, { try contents.wait() }] {
      let error = #expect(throws: ResponseArchiveError.self) { try action() }
      #expect(error.map { "\($0)".contains(words) } ?? false, "\(String(describing: error))")
    }
  }
}
