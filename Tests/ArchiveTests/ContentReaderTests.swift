import Archive
import Testing

@Suite struct ContentReaderTests {
  private static func member(_ contents: [UInt8]) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var writer = try GzipMemberWriter(DeflateCompressor()) { bytes += $0 }
    try writer.append(contents[...])
    try writer.finish()
    return bytes
  }

  private static func noise(_ count: Int, _ seed: UInt64) -> [UInt8] {
    var state = 0x9E37_79B9_7F4A_7C15 &+ seed
    return (0..<count).map { _ in
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return UInt8(truncatingIfNeeded: state >> 24)
    }
  }

  /// Reads the rest of a member.
  private func rest(of reader: ContentReader) throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 10_000)
    var result: [UInt8] = []
    while case let count = try reader.read(into: &buffer), count > 0 { result += buffer[..<count] }
    return result
  }

  /// Members that are decoded in memory at the first and at the second attempt, and members that are too long for that:
  /// coded and decoded, and only decoded.
  private static let contents: [[UInt8]] = [
    [], noise(1_000, 1), noise(400_000, 2), noise(1_000_000, 3), noise(1_200_000, 4),
    [UInt8](repeating: 7, count: 3_000_000), Array("end".utf8),
  ]

  @Test func `members of all sizes are decoded, and any of them can be opened`() throws {
    let members = try Self.contents.map { try Self.member($0) }
    let coded = members.flatMap { $0 }
    let starts = members.indices.map { members[..<$0].reduce(0) { $0 + $1.count } }
    var readBytes = 0
    let reader = ContentReader(.gzip, limit: .max) { buffer, offset in
      let piece = coded[min(Int(offset), coded.count)...].prefix(buffer.count)
      buffer.replaceSubrange(..<piece.count, with: piece)
      readBytes += piece.count
      return piece.count
    }
    for (index, contents) in Self.contents.enumerated() {
      #expect(try reader.nextMember())
      #expect(reader.memberStart == Int64(starts[index]))
      #expect(try rest(of: reader) == contents, "\(index)")
      #expect(reader.decodedEnd == Int64(starts[index] + members[index].count))
    }
    #expect(try !reader.nextMember())
    #expect(readBytes < coded.count * 11 / 10)
    for index in [6, 3, 5, 1, 1, 4, 0, 2] {
      reader.move(toMemberAt: Int64(starts[index]))
      #expect(try reader.nextMember())
      // Leaving a member before its end is allowed.
      var buffer = [UInt8](repeating: 0, count: 10)
      if index == 5 {
        _ = try reader.read(into: &buffer)
        reader.move(toMemberAt: Int64(starts[index]))
        #expect(try reader.nextMember())
      }
      #expect(try rest(of: reader) == Self.contents[index], "\(index)")
    }
  }

  @Test func `damage in a member is found, whatever decodes it`() throws {
    for (index, contents) in Self.contents.enumerated() {
      var member = try Self.member(contents)
      // The checksum.
      member[member.count - 8] ^= 1
      var rest = (try Self.member([1]) + member + Self.member([2]))[...]
      let reader = ContentReader(.gzip, limit: .max) { buffer in
        let piece = rest.prefix(min(buffer.count, 50_000))
        buffer.replaceSubrange(..<piece.count, with: piece)
        rest = rest.dropFirst(piece.count)
        return piece.count
      }
      #expect(try reader.nextMember())
      #expect(try self.rest(of: reader) == [1])
      let error = #expect(throws: ContentDecodingError.self, "\(index)") {
        _ = try reader.nextMember()
        _ = try self.rest(of: reader)
      }
      #expect(error?.kind == .wrongChecksum, "\(index)")
    }
  }

  @Test func `what was read ahead does not count as decoded`() throws {
    // Nearly a megabyte of small members, all of which fit into the first reading.
    let member = try Self.member(Array("a member".utf8))
    let coded = Array(repeatElement(member, count: 30_000).joined())
    var offset = 0
    let reader = ContentReader(.gzip, limit: .max) { buffer in
      let piece = coded[offset...].prefix(buffer.count)
      buffer.replaceSubrange(..<piece.count, with: piece)
      offset += piece.count
      return piece.count
    }
    for number in 1...10 {
      #expect(try reader.nextMember())
      #expect(try rest(of: reader).count == 8)
      #expect(reader.decodedEnd == Int64(member.count * number))
    }
  }
}
