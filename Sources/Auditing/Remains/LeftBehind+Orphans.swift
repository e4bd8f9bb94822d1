public import Bytes
import Files
import ResponseArchives
public import ResponseStorage

extension LeftBehind {
  /// Searches the body files to which no entry refers.
  ///
  /// - Returns: The findings, in the order of the files.
  /// - Throws: `FileError`, or any error of decoding that is not about a single file.
  public static func findings(
    inOrphans orphans: [OrphanFile], of files: CacheFiles, now: Timestamp
  ) throws -> [AuditFinding] {
    guard !orphans.isEmpty else { return [] }
    let folder = try Directory(files.folder, followingLink: true)
    let bodies = try Directory("fsCachedData", in: folder)
    var result: [AuditFinding] = []
    for orphan in orphans {
      // An app may have removed it meanwhile.
      guard let file = try? OpenFile(reading: orphan.name, in: bodies) else { continue }
      let place = AuditPlace.file(ByteString("fsCachedData/\(orphan.name)"))
      var places: [ByteString: Int] = [:]
      try forEachMatch(in: file, size: orphan.size, now: now) { match in
        if let index = places[match.value] {
          result[index].count += 1
        } else if places.count < Self.mostOfOrphan, result.count < Self.most {
          places[match.value] = result.count
          result.append(
            AuditFinding(match.rule, place, detail: match.name, secret: match, bytes: orphan.size))
        }
      }
    }
    return result
  }

  /// The most secrets that are kept of one file.
  private static let mostOfOrphan = 10_000

  /// The most bytes of a compressed file that are decoded.
  private static let mostDecoded = ByteCount(64 << 20)

  private static func forEachMatch(
    in file: borrowing OpenFile, size: ByteCount, now: Timestamp, _ found: (SecretMatch) -> Void
  ) throws {
    var scanner = SecretScanner(.text, now: now)
    var offset: Int64 = 0
    var start: [UInt8] = []
    while true {
      let piece = try file.read(1 << 18, at: offset)
      if piece.isEmpty { break }
      if offset == 0 { start = Array(piece.prefix(4)) }
      scanner.append(piece[...], found)
      offset += Int64(piece.count)
    }
    scanner.finish(found)
    // What looks compressed is also decoded, as in an entry.
    let isCoded = start.starts(with: [0x1F, 0x8B]) || start.starts(with: [0x28, 0xB5, 0x2F, 0xFD])
    guard isCoded, size <= mostDecoded else { return }
    var decoded = SecretScanner(.text, now: now)
    var reader = BodyReader(try file.read(Int(clamping: size.bytes), at: 0))
    do {
      _ = try reader.forEachDecodedChunk(limit: ByteCount(1 << 30)) { decoded.append($0, found) }
    } catch is BodyDecodingError {}
    decoded.finish(found)
  }
}
