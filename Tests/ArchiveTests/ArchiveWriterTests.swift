import Archive
import Testing

@Suite struct ArchiveWriterTests {
  private final class Output {
    var bytes: [UInt8] = []
  }

  /// Writes an archive, and returns its bytes.
  private func archive(
    _ format: ArchiveFormat, _ body: (inout ArchiveWriter) throws -> Void
  ) throws -> [UInt8] {
    let output = Output()
    var writer = try ArchiveWriter(format) { output.bytes += $0 }
    try body(&writer)
    try writer.finish()
    return output.bytes
  }

  @Test(arguments: ArchiveFormat.allCases)
  func `bsdtar reads written archives`(_ format: ArchiveFormat) throws {
    let long = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    let bytes = try archive(format) { writer in
      try writer.append("a/empty", [])
      try writer.append("a/short", Array("one\n".utf8))
      try writer.begin("b", size: Int64(long.count))
      try writer.append(long[..<1])
      try writer.append(long[1..<1])
      try writer.append(long[1...])
    }
    #expect(
      try Compressed.by(["bsdtar", "-tf", "-"], of: bytes) == Array("a/empty\na/short\nb\n".utf8))
    #expect(
      try Compressed.by(["bsdtar", "-xOf", "-", "a/short"], of: bytes) == Array("one\n".utf8))
    #expect(try Compressed.by(["bsdtar", "-xOf", "-", "b"], of: bytes) == long)
  }

  @Test(arguments: ArchiveFormat.allCases)
  func `a member longer than announced is an error`(_ format: ArchiveFormat) throws {
    let error = #expect(throws: ArchiveError.self) {
      try archive(format) { writer in
        try writer.begin("a", size: 3)
        try writer.append([1, 2])
        try writer.append([3, 4, 5])
      }
    }
    #expect(error?.description == "a member is 2 bytes longer than declared")
  }

  @Test(arguments: ArchiveFormat.allCases)
  func `a member shorter than announced is an error`(_ format: ArchiveFormat) throws {
    let begin = { (writer: inout ArchiveWriter) in
      try writer.begin("a", size: 3)
      try writer.append([1, 2])
    }
    let atEnd = #expect(throws: ArchiveError.self) { try archive(format, begin) }
    #expect(atEnd?.description == "a member is 1 bytes shorter than declared")
    let before = #expect(throws: ArchiveError.self) {
      try archive(format) { writer in
        try begin(&writer)
        try writer.append("b", [])
      }
    }
    #expect(before == atEnd)
  }

  @Test func `errors of the output are rethrown`() throws {
    struct Full: Error {}
    #expect(throws: Full.self) {
      var writer = try ArchiveWriter(.tar) { _ in throw Full() }
      try writer.append("a", [UInt8](repeating: 0, count: 1 << 17))
      try writer.finish()
    }
  }
}
