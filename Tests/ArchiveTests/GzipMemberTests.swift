import Archive
import Testing

@Suite struct GzipMemberTests {
  /// Writes a member.
  private func member(_ text: [UInt8], level: Int = 6, pieces: Int = .max) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var writer = try GzipMemberWriter(DeflateCompressor(level: level)) { bytes += $0 }
    var rest = text[...]
    while !rest.isEmpty {
      try writer.append(rest.prefix(pieces))
      rest = rest.dropFirst(pieces)
    }
    try writer.finish()
    return bytes
  }

  /// The largest that is compressed in memory is between the last two.
  private static let texts = [
    [], Array("one".utf8), (0..<300_000).map { UInt8($0 * $0 % 251) },
    (0..<GzipMemberWriter.largestInMemory).map { UInt8($0 * $0 % 251) },
    (0...GzipMemberWriter.largestInMemory).map { UInt8($0 * $0 % 241) },
  ]

  @Test func `gzip reads written members`() throws {
    for text in Self.texts {
      for level in [1, 6, 9] {
        let member = try member(text, level: level)
        #expect(try Compressed.by(["gzip", "-dc"], of: member) == text)
        #expect(try self.member(text, level: level, pieces: 1_000) == member, "other bytes")
      }
    }
    let all = try Self.texts.flatMap { try member($0) }
    #expect(try Compressed.by(["gzip", "-dc"], of: all) == Self.texts.flatMap { $0 })
  }

  @Test func `members are read one by one, with their offsets`() throws {
    let members = try Self.texts.map { try member($0) }
    var rest = members.flatMap { $0 }[...]
    let reader = ContentReader(.gzip, limit: .max) { buffer in
      let piece = rest.prefix(min(buffer.count, 1_000))
      buffer.replaceSubrange(0..<piece.count, with: piece)
      rest = rest.dropFirst(piece.count)
      return piece.count
    }
    var start: Int64 = 0
    var buffer = [UInt8](repeating: 0, count: 5_000)
    for (text, member) in zip(Self.texts, members) {
      #expect(try reader.nextMember())
      #expect(reader.memberStart == start)
      var read: [UInt8] = []
      while case let count = try reader.read(into: &buffer), count > 0 { read += buffer[..<count] }
      #expect(read == text)
      start += Int64(member.count)
    }
    #expect(try !reader.nextMember())
  }

  @Test func `a failed write is an error, and the writer is destroyed silently`() throws {
    struct Full: Error {}
    #expect(throws: Full.self) {
      var writer = try GzipMemberWriter(DeflateCompressor()) { _ in throw Full() }
      // More than is compressed in memory.
      var state = 1 as UInt64
      for _ in 0..<GzipMemberWriter.largestInMemory {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        try writer.append(
          [UInt8(truncatingIfNeeded: state >> 33), UInt8(truncatingIfNeeded: state >> 41)][...])
      }
      try writer.finish()
    }
  }
}
