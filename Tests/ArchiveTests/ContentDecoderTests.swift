import Archive
import Testing

@Suite struct ContentDecoderTests {
  /// Data that compresses badly, and contains the first bytes of headers.
  private static let data: [UInt8] = {
    var state = 0x9E37_79B9_7F4A_7C15 as UInt64
    return (0..<9_000).flatMap { index in
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      let header: [UInt8] = index.isMultiple(of: 7) ? [0x1F, 0x8B, 8, 0] : []
      return header + (0..<8).map { UInt8(truncatingIfNeeded: state >> ($0 * 8)) }
    }
  }()

  @Test(
    arguments: [
      (["gzip", "-1"], .gzip), (["gzip", "-9"], .gzip), (["zstd", "-qc"], .zstd),
      (["zstd", "-qc19", "--no-check"], .zstd),
    ] as [([String], ContentCoding)])
  func `compressed files of other programs are decoded`(
    _ program: [String], _ coding: ContentCoding
  ) throws {
    let texts = [0, 1, 7, 8, 9, 1_000, Self.data.count].map { Array(Self.data.prefix($0)) }
    for text in texts + [[UInt8](repeating: 0, count: 300_000)] {
      let coded = try Compressed.by(program, of: text)
      for pieces in [.max, 1_000, 1] where pieces > 1 || coded.count < 10_000 {
        #expect(try decoded(coded, coding, pieces: pieces) == text, "\(text.count), \(pieces)")
      }
    }
  }

  @Test func `consecutive members are decoded`() throws {
    let parts = [Self.data, [], Array("one".utf8), [], [], Array(Self.data.prefix(3_000))]
    let coded = try parts.flatMap { try Compressed.by(["gzip"], of: $0) }
    for pieces in [.max, 1_024, 13] {
      #expect(try decoded(coded, .gzip, pieces: pieces) == parts.flatMap { $0 }, "\(pieces)")
    }
    let frames = try parts.flatMap { try Compressed.by(["zstd", "-qc"], of: $0) }
    #expect(try decoded(frames, .zstd, pieces: 13) == parts.flatMap { $0 })
  }

  /// Each of these parts looks like the start of a member where there is none, or hides one.
  @Test func `real members are distinguished from lookalikes`() throws {
    let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
    // The checksum of this starts with 1F 8B 08.
    let looksLikeHeader: [UInt8] = [0x00, 0x45, 0x8B, 0x8B]
    let parts =
      (0..<40).map { Array(Self.data.prefix(1_000 + $0)) + header }
      + [looksLikeHeader, header, header + header, Array(header.prefix(3)), looksLikeHeader]
    var coded: [UInt8] = []
    for (index, part) in parts.enumerated() {
      let name = index.isMultiple(of: 3) ? [UInt8](repeating: 0x8B, count: index * 100) : nil
      coded += Compressed.storedMember(of: part, name: name.map { $0 + header.prefix(3) })
    }
    for pieces in [.max, 1_000, 9, 8, 7] {
      #expect(try decoded(coded, .gzip, pieces: pieces) == parts.flatMap { $0 }, "\(pieces)")
    }
  }

  @Test func `many small members are decoded`() throws {
    let member = Compressed.storedMember(of: [0x61])
    let coded = Array(repeatElement(member, count: 5_000).joined())
    #expect(try decoded(coded, .gzip) == [UInt8](repeating: 0x61, count: 5_000))
  }

  @Test func `truncated data is an error at every length`() throws {
    let parts = [Array(Self.data.prefix(40)), [], [UInt8](repeating: 0, count: 40)]
    let members =
      try parts.map { try Compressed.by(["gzip"], of: $0) } + [
        Compressed.storedMember(of: [UInt8](repeating: 0, count: 20), name: [0x61])
      ]
    try expectErrors(ofCutting: members, .gzip, parts + [[UInt8](repeating: 0, count: 20)])
    let frames = try parts.map { try Compressed.by(["zstd", "-qc"], of: $0) }
    try expectErrors(ofCutting: frames, .zstd, parts)
  }

  @Test(
    arguments: [("gzip", "-9", .gzip), ("zstd", "-qc", .zstd)] as [(String, String, ContentCoding)])
  func `a changed bit is an error or changes nothing`(
    _ program: String, _ option: String, _ coding: ContentCoding
  ) throws {
    let parts = [Array(Self.data.prefix(60)), Array("a text, a text, a text".utf8), []]
    let coded = try parts.flatMap { try Compressed.by([program, option], of: $0) }
    var errors = 0
    for bit in 0..<coded.count * 8 {
      var changed = coded
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      do {
        let text = try decoded(changed, coding, limit: 1 << 20)
        #expect(text == parts.flatMap { $0 }, "bit \(bit)")
      } catch is ContentDecodingError {
        errors += 1
      }
    }
    // Decoders ignore the time and the system in a gzip header, so changes there are not detected.
    #expect(errors > coded.count * 8 * 6 / 10)
  }

  @Test(
    arguments: [
      (
        [0x1F, 0x8B, 9, 0, 0, 0, 0, 0, 0, 3, 3, 0], .gzip,
        "there is no complete gzip header at byte 0"
      ),
      (
        [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 7, 0], .gzip,
        "decoding failed at byte 10: gzip decompression failed"
      ),
      (
        [0x28, 0xB5, 0x2F, 0xFD, 0x08, 0, 1, 0, 0], .zstd,
        "decoding failed at byte 0: Zstd decompression failed: Unsupported frame parameter"
      ),
      // A window of 256 MiB.
      (
        [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x90, 1, 0, 0], .zstd,
        "decoding failed at byte 0: Zstd decompression failed: Frame requires too much memory"
          + " for decoding"
      ),
    ] as [([UInt8], ContentCoding, String)])
  func `damage is reported with its offset`(
    _ coded: [UInt8], _ coding: ContentCoding, _ message: String
  ) throws {
    try expectError(coded, coding, message)
  }

  @Test func `trailing data is reported with its offset`() throws {
    let member = Compressed.storedMember(of: [0x61])
    for rest in [[0], [0x1F], [0x1F, 0x8B], Array("more than eight bytes".utf8)] as [[UInt8]] {
      let error = #expect(throws: ContentDecodingError.self) { try decoded(member + rest, .gzip) }
      let offset = member.count + (error?.kind == .endsTooEarly ? rest.count : 0)
      #expect(error?.description.hasSuffix("at byte \(offset)") ?? false, "\(rest)")
    }
    try expectError(
      Compressed.storedMember(of: []) + member.dropLast(5) + [0] + member.suffix(4), .gzip,
      "the checksum of the member at byte 23 does not match")
  }

  @Test func `an endless header is not read to the end`() throws {
    let name = [UInt8](repeating: 0x61, count: 1 << 20)
    let long = Compressed.storedMember(of: [0x61], name: Array(name.dropLast(100)))
    #expect(try decoded(long, .gzip) == [0x61])
    var count = 0
    let error = #expect(throws: ContentDecodingError.self) {
      try ContentDecoder(.gzip, limit: .max).decode({ buffer in
        let bytes = count == 0 ? [0x1F, 0x8B, 8, 8, 0, 0, 0, 0, 0, 3] : name.prefix(buffer.count)
        buffer.replaceSubrange(0..<bytes.count, with: bytes)
        count += bytes.count
        return bytes.count
      }) { _ in }
    }
    #expect(error?.description == "there is no complete gzip header at byte 0")
    #expect(count < 2 * name.count)
  }

  @Test func `the output is limited`() throws {
    let zeros = [UInt8](repeating: 0, count: 500_000)
    for (program, option, coding) in [
      ("gzip", "-9", .gzip), ("zstd", "-qc", .zstd),
    ] as [(String, String, ContentCoding)] {
      let coded = try Compressed.by([program, option], of: zeros)
      #expect(try decoded(coded, coding, limit: 500_000) == zeros)
      var count = 0
      let error = #expect(throws: ContentDecodingError.self) {
        try decode(coded, coding, limit: 499_999) { count += $0.count }
      }
      #expect(error?.kind == .tooLarge)
      #expect(error?.description == "its decoded size exceeds 499999 bytes")
      #expect(count < 500_000)
    }
  }

  @Test func `an error of the caller is passed on`() throws {
    struct Stop: Error {}
    let coded = try Compressed.by(["gzip"], of: Self.data)
    #expect(throws: Stop.self) { try decode(coded, .gzip) { _ in throw Stop() } }
    for first in [0, 5, 40_000] {
      var count = 0
      #expect(throws: Stop.self, "\(first)") {
        try ContentDecoder(.gzip, limit: .max).decode({ buffer in
          guard count < first else { throw Stop() }
          let bytes = coded[count..<first].prefix(buffer.count)
          buffer.replaceSubrange(0..<bytes.count, with: bytes)
          count += bytes.count
          return bytes.count
        }) { _ in }
      }
    }
  }

  private func expectErrors(
    ofCutting parts: [[UInt8]], _ coding: ContentCoding, _ texts: [[UInt8]]
  ) throws {
    let (coded, text) = (parts.flatMap { $0 }, texts.flatMap { $0 })
    // Data that ends with a complete part is valid.
    let ends = parts.indices.map { parts[...$0].reduce(0) { $0 + $1.count } }
    for length in 0...coded.count {
      var result: [UInt8] = []
      do {
        try decode(Array(coded[..<length]), coding) { result += $0 }
        let whole = ends.firstIndex(of: length).map { $0 + 1 }
        #expect(whole != nil || length == 0, "\(coding), \(length)")
        #expect(result == texts.prefix(whole ?? 0).flatMap { $0 }, "\(coding), \(length)")
      } catch let error as ContentDecodingError {
        #expect(!ends.contains(length), "\(coding), \(length)")
        #expect(text.starts(with: result), "\(coding), \(length)")
        let start = ends.last { $0 <= length } ?? 0
        let expected =
          error.kind == .endsTooEarly
          ? "it ends unexpectedly at byte \(length)"
          : "there is no complete gzip header at byte \(start)"
        #expect(error.description == expected, "\(coding), \(length)")
      }
    }
  }

  private func expectError(_ coded: [UInt8], _ coding: ContentCoding, _ message: String) throws {
    let error = #expect(throws: ContentDecodingError.self) { try decoded(coded, coding) }
    #expect(error?.description == message)
  }

  private func decoded(
    _ coded: [UInt8], _ coding: ContentCoding, limit: Int64 = .max, pieces: Int = .max
  ) throws -> [UInt8] {
    var result: [UInt8] = []
    try decode(coded, coding, limit: limit, pieces: pieces) { result += $0 }
    return result
  }

  private func decode(
    _ coded: [UInt8], _ coding: ContentCoding, limit: Int64 = .max, pieces: Int = .max,
    _ body: (ArraySlice<UInt8>) throws -> Void
  ) throws {
    var rest = coded[...]
    try ContentDecoder(coding, limit: limit).decode(
      { buffer in
        let piece = rest.prefix(min(pieces, buffer.count))
        buffer.replaceSubrange(0..<piece.count, with: piece)
        rest = rest.dropFirst(piece.count)
        return piece.count
      }, body)
  }
}
