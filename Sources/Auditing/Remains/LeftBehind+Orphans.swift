import Bytes
import Files
import ResponseArchives
import ResponseStorage
import Secrets

extension LeftBehind {
  /// Searches the body files to which no entry refers.
  mutating func search(_ orphans: [OrphanFile], of files: CacheFiles) throws {
    guard !orphans.isEmpty else { return }
    let folder = try Directory(files.folder, followingLink: true)
    let bodies = try Directory("fsCachedData", in: folder)
    for orphan in orphans {
      // An app may have removed it meanwhile.
      guard let file = try? OpenFile(reading: orphan.name, in: bodies) else { continue }
      let place = AuditPlace.file(ByteString("fsCachedData/\(orphan.name)"))
      try Self.forEachMatch(in: file, size: orphan.size, now: now) { match in
        let key = FoundSecrets.Key(value: match.value, place: place)
        if found.recount(key) { return }
        found.insert(
          AuditFinding(
            AuditRule(match.rule), place, detail: match.name, secret: match, bytes: orphan.size),
          as: key)
      }
    }
  }

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
