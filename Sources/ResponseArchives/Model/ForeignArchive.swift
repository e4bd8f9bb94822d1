import Archive
import Bytes

/// An archive of other programs that cannot be read: what it is, and what the user can do.
struct ForeignArchive {
  /// What the file is: a sentence about `it`.
  let fact: String
  let hint: String

  /// Recognizes a file by its first bytes; `nil` if they mean nothing.
  init?(_ file: ArchiveFile) {
    if let mark = Self.marks.first(where: { file.start.starts(with: $0.bytes) }) {
      self.init(fact: mark.fact, hint: mark.hint)
      return
    }
    switch ArchiveFormat(ofFileBeginningWith: file.start) {
    case .zip:
      self.init(
        fact:
          "it is a zip file, but contains no archive of this program, no HAR and no WARC files",
        hint: "unpack it, and import the archives in it one by one")
    case .tarGzip, .tarZstd: self.init(decoded: file.decodedStart(ArchiveFormat.longestMark))
    case .tar: return nil
    case nil: self.init(text: file.start)
    }
  }

  private init(fact: String, hint: String) {
    (self.fact, self.hint) = (fact, hint)
  }

  private init(decoded start: [UInt8]) {
    if let foreign = Self(text: start) {
      self = foreign
    } else {
      self.init(
        fact: "it is compressed, but contains neither a tar archive nor a HAR or WARC",
        hint: "decompress it first, and import what is in it")
    }
  }

  private init?(text: [UInt8]) {
    if text.starts(with: "filedesc://".utf8) {
      self.init(
        fact: "it is an ARC file, which WARC has replaced",
        hint: "convert it first, for example with: warcio recompress FILE.arc.gz FILE.warc.gz")
    } else if Self.isCall(text) {
      self.init(
        fact: "it is JSONP, such as HARP: JSON inside a function call",
        hint: "remove the text before the first '{' and after the last '}'")
    } else {
      return nil
    }
  }

  /// Whether a text begins like `name({`.
  private static func isCall(_ text: [UInt8]) -> Bool {
    let text = text.drop { isBlank($0) }
    let name = text.prefix {
      $0.isASCIILetter || $0.isASCIIDigit || [0x5F, 0x24, 0x2E].contains($0)
    }
    let call = text.dropFirst(name.count).drop { isBlank($0) }
    guard !name.isEmpty, call.first == UInt8(ascii: "(") else { return false }
    return call.dropFirst().first { !isBlank($0) } == UInt8(ascii: "{")
  }

  private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

  private static let marks: [(bytes: [UInt8], fact: String, hint: String)] = [
    (
      [0x5D, 0x2A, 0x4D, 0x18], "it is compressed with zstd and a dictionary",
      "decompress it first, for example with: zstdwarccat FILE.warc.zst > FILE.warc"
    ),
    (
      [0x04, 0x22, 0x4D, 0x18], "it is compressed with LZ4",
      "decompress it first, for example with: lz4 -d FILE.lz4"
    ),
    (
      Array("BZh".utf8), "it is compressed with bzip2",
      "decompress it first, for example with: bunzip2 -k FILE.bz2"
    ),
    (
      [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], "it is compressed with xz",
      "decompress it first, for example with: xz -dk FILE.xz"
    ),
    (
      [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], "it is a 7z archive",
      "unpack it, and import the archives in it one by one"
    ),
  ]
}
