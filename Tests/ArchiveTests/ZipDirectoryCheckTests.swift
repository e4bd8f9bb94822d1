import Archive
import Testing

@Suite struct ZipDirectoryCheckTests {
  @Test(arguments: [0, 1, 65_514, 65_515, 65_535], [false, true])
  func `the end record is found before a comment of any length`(_ length: Int, _ isLarge: Bool) {
    let comment = [UInt8](repeating: 0x63, count: length)
    #expect(throws: Never.self) { try Self.check(Self.archive(comment, isLarge: isLarge)) }
    // The directory is compared, and not only found.
    #expect(Self.error(of: Self.archive(comment, isLarge: isLarge, named: "b")) != nil)
  }

  @Test func `a comment that does not end with the file is no comment`() {
    let archive = Self.archive([UInt8](repeating: 0x63, count: 65_535))
    for bytes in [archive + [0], Array(archive.dropLast())] {
      #expect(Self.error(of: bytes) == "the zip archive has no end record")
    }
  }

  /// Returns the description of the error that the check throws.
  private static func error(of bytes: [UInt8]) -> String? {
    do { try check(bytes) } catch { return "\(error)" }
    return nil
  }

  private static func check(_ bytes: [UInt8]) throws {
    var check = ZipDirectoryCheck(
      ArchiveInput(size: Int64(bytes.count)) { buffer, offset in
        let piece = bytes[Int(offset)...].prefix(buffer.count)
        buffer.replaceSubrange(..<piece.count, with: piece)
        return piece.count
      })
    try check.run()
  }

  /// Returns an archive with an empty member `a`.
  ///
  /// - Parameters:
  ///   - isLarge: Whether the archive has the records of a zip64 archive (APPNOTE §4.3.14, §4.3.15).
  ///   - name: The name of the member in the directory.
  private static func archive(
    _ comment: [UInt8], isLarge: Bool = false, named name: Character = "a"
  ) -> [UInt8] {
    var bytes = Array("PK\u{3}\u{4}".utf8) + zeros(22) + number(1, 2) + zeros(2) + Array("a".utf8)
    let start = bytes.count
    bytes += Array("PK\u{1}\u{2}".utf8) + zeros(24) + number(1, 2) + zeros(16)
    bytes += Array(String(name).utf8)
    if isLarge {
      let record = bytes.count
      bytes += Array("PK\u{6}\u{6}".utf8) + zeros(44) + number(start, 8)
      bytes += Array("PK\u{6}\u{7}".utf8) + zeros(4) + number(record, 8) + zeros(4)
    }
    bytes += Array("PK\u{5}\u{6}".utf8) + zeros(12)
    return bytes + number(isLarge ? 0xFFFF_FFFF : start, 4) + number(comment.count, 2) + comment
  }

  private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

  private static func number(_ value: Int, _ bytes: Int) -> [UInt8] {
    (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}
