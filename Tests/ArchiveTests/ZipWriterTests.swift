import Archive
import Testing

@Suite struct ZipWriterTests {
  private final class Output {
    var bytes: [UInt8] = []
  }

  /// Data that cannot be compressed.
  private static func noise(_ count: Int) -> [UInt8] {
    var state = 0x9E37_79B9_7F4A_7C15 as UInt64
    return (0..<count).map { _ in
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return UInt8(truncatingIfNeeded: state >> 24)
    }
  }

  private static func text(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* $0 % 97) }
  }

  /// A member: its contents, and whether it is to be compressed.
  private typealias Member = (name: String, contents: [UInt8], isCompressed: Bool)

  // The last ones do not fit into memory.
  private static let members: [Member] = [
    ("empty", [], true), ("one", [0x61], true), ("text", text(200_000), true),
    ("noise", noise(200_000), true), ("stored", text(5_000), false),
    ("long-text", text(1_500_000), true), ("long-noise", noise(1_500_000), true),
    ("long-stored", text(1_500_000), false), ("end", Array("end".utf8), true),
  ]

  private static func archive(_ members: [Member], pieces: Int = .max) throws -> [UInt8] {
    let output = Output()
    var writer = try ArchiveWriter(.zip) { output.bytes += $0 }
    for member in members {
      try writer.begin(
        member.name, size: Int64(member.contents.count), isCompressed: member.isCompressed)
      var rest = member.contents[...]
      while !rest.isEmpty {
        try writer.append(rest.prefix(pieces))
        rest = rest.dropFirst(pieces)
      }
    }
    try writer.finish()
    return output.bytes
  }

  @Test func `python reads written archives, with the method of each member`() throws {
    let archive = try Self.archive(Self.members)
    let program = """
      import io, sys, zipfile
      archive = zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read()))
      assert archive.testzip() is None
      for item in archive.infolist():
          print(item.filename, item.compress_type, item.file_size, oct(item.external_attr >> 16), item.date_time[0])
      """
    let expected = Self.members.map { member in
      let isDeflated = member.isCompressed && member.name.hasSuffix("text")
      return "\(member.name) \(isDeflated ? 8 : 0) \(member.contents.count) 0o100644 1980\n"
    }
    let listed = try Compressed.by(["python3", "-c", program], of: archive)
    #expect(String(decoding: listed, as: UTF8.self) == expected.joined())
    #expect(archive.count < Self.members.reduce(0) { $0 + $1.contents.count } - 1_500_000)
  }

  @Test func `the archives are read back, and agree with their directories`() throws {
    let archive = try Self.archive(Self.members)
    #expect(try Self.archive(Self.members, pieces: 70_001) == archive)
    let input = ArchiveInput(size: Int64(archive.count)) { buffer, offset in
      let piece = archive[Int(offset)...].prefix(buffer.count)
      buffer.replaceSubrange(..<piece.count, with: piece)
      return piece.count
    }
    var check = ZipDirectoryCheck(input)
    try check.run()
    var reader = try ArchiveReader(.zip, of: input)
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    for member in Self.members {
      let found = try reader.next()
      #expect(found?.name == Array(member.name.utf8))
      let isInPlace = archive[Int(reader.position)...].starts(with: member.contents)
      #expect(isInPlace == (!member.isCompressed || !member.name.hasSuffix("text")))
      var contents: [UInt8] = []
      while case let count = try reader.read(into: &buffer), count > 0 {
        contents += buffer[..<count]
      }
      #expect(contents == member.contents, "\(member.name)")
    }
    #expect(try reader.next() == nil)
  }

  @Test func `members that were compressed before are written equally`() throws {
    let members = Self.members.filter { $0.isCompressed && $0.contents.count < 1_000_000 }
    let output = Output()
    var writer = try ArchiveWriter(.zip) { output.bytes += $0 }
    let compressor = try DeflateCompressor()
    for member in members {
      try writer.append(member.name, ZipMember(member.contents, by: compressor))
    }
    try writer.finish()
    #expect(try output.bytes == Self.archive(members))
  }

  @Test func `bsdtar and unzip read an archive with many members`() throws {
    // From 65,535 members on, their number needs the records of zip64.
    for count in [65_534, 65_535, 70_000] {
      let archive = try Self.archive((0..<count).map { ("\($0)", Array("\($0)".utf8), true) })
      let listed = try Compressed.by(["bsdtar", "-tf", "-"], of: archive)
      #expect(listed.count { $0 == 0x0A } == count)
      let program =
        "import io, sys, zipfile; print(len(zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read())).infolist()))"
      #expect(
        try Compressed.by(["python3", "-c", program], of: archive) == Array("\(count)\n".utf8))
    }
  }

  @Test func `only zip takes compressed members`() throws {
    let member = ZipMember([1], by: try DeflateCompressor())
    #expect(throws: ArchiveError.self) {
      var writer = try ArchiveWriter(.tar) { _ in }
      try writer.append("a", member)
    }
  }
}
