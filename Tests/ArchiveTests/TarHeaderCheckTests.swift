import Archive
import Testing

@Suite struct TarHeaderCheckTests {
  /// Returns a tar header with a checksum, and the bytes of the member, padded to whole blocks.
  private static func member(_ name: String, type: Character, _ bytes: [UInt8]) -> [UInt8] {
    var header = [UInt8](repeating: 0, count: 512)
    func put(_ text: String, at place: Int) {
      header.replaceSubrange(place..<place + text.utf8.count, with: text.utf8)
    }
    func octal(_ number: Int, _ count: Int) -> String {
      let digits = String(number, radix: 8)
      return String(repeating: "0", count: count - digits.utf8.count) + digits
    }
    put(name, at: 0)
    put("0000644", at: 100)
    put(octal(bytes.count, 11), at: 124)
    put(String(repeating: " ", count: 8), at: 148)
    put("\(type)", at: 156)
    put("ustar\u{0}00", at: 257)
    put(octal(header.reduce(0) { $0 + Int($1) }, 6) + "\u{0}", at: 148)
    return header + bytes + [UInt8](repeating: 0, count: -bytes.count & 511)
  }

  /// Returns an archive of two members, with bytes inserted before the second.
  private static func archive(_ between: [UInt8]) -> [UInt8] {
    member("a", type: "0", Array(repeating: 0x61, count: 700)) + between
      + member("b", type: "0", [0x62]) + [UInt8](repeating: 0, count: 1_024)
  }

  /// Returns a record of an extended header, whose length includes itself.
  private static func record(_ text: String) -> [UInt8] {
    Array("\(text.utf8.count + 4) \(text)\n".utf8)
  }

  /// Reads an archive in pieces of `pieceSize` bytes, and returns the names of its members.
  private static func names(in archive: [UInt8], pieceSize: Int) throws -> [[UInt8]] {
    let input = ArchiveInput(size: Int64(archive.count)) { buffer, offset in
      let piece = archive.dropFirst(Int(offset)).prefix(min(pieceSize, buffer.count))
      buffer.replaceSubrange(0..<piece.count, with: piece)
      return piece.count
    }
    var reader = try ArchiveReader(.tar, of: input)
    var names: [[UInt8]] = []
    while let member = try reader.next() { names.append(member.name ?? []) }
    return names
  }

  @Test(arguments: [1, 7, 511, 512, 513, 4_096])
  func `common archives are read in pieces of any size`(_ pieceSize: Int) throws {
    let fields = Self.record("mtime=1.5") + Self.record("comment=a\u{0}b") + Self.record("size=1")
    for between in [[], Self.member("x", type: "x", fields)] {
      #expect(
        try Self.names(in: Self.archive(between), pieceSize: pieceSize) == [[0x61], [0x62]])
    }
  }

  @Test(arguments: [512, 65_536])
  func `skipped members are not checked`(_ pieceSize: Int) throws {
    let long = Self.member("x", type: "0", Array(repeating: 0x67, count: 300_000))
    let archive = Self.archive(long + long)
    #expect(try Self.names(in: archive, pieceSize: pieceSize).count == 4)
    let flawed = Self.archive(long + Self.member("x", type: "g", Self.record("comment=x")))
    #expect(throws: ArchiveError.self) { try Self.names(in: flawed, pieceSize: pieceSize) }
  }

  @Test(arguments: [1, 512, 65_536])
  func `malformed archives that libarchive accepts are refused`(_ pieceSize: Int) {
    for (type, fields, reason) in [
      ("x", Self.record("path=b\u{0}cdef"), "the name of a member contains NUL"),
      (
        "x", Self.record("size=1234"),
        "the size in an extended header differs from the member's"
      ),
      ("x", Self.record("size=-123"), "an extended header is malformed"),
      ("x", Array("99 path=b\n".utf8), "an extended header is malformed"),
      ("x", Array("path=b\n".utf8), "an extended header is malformed"),
      ("g", Self.record("comment=x"), "an extended header applies to all members"),
    ] as [(Character, [UInt8], String)] {
      let archive = Self.archive(Self.member("x", type: type, fields))
      let error = #expect(throws: ArchiveError.self) {
        try Self.names(in: archive, pieceSize: pieceSize)
      }
      #expect(error?.description == reason)
    }
  }
}
