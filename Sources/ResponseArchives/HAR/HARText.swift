import Archive
import Bytes
import Files
import ResponseStorage

/// The text of a HAR, and the bodies in files of their own that its entries name.
///
/// A HAR may be compressed, or a member of a zip file with the bodies as other members, as Playwright writes it. Then the
/// text and the bodies are extracted to unnamed files.
struct HARText {
  /// The JSON text in UTF-8.
  let bytes: FileBytes

  /// The offset of the text, after a byte order mark.
  let start: Int64

  /// The bodies in files of their own.
  let attachments: HARAttachments

  // RFC 8259 §8.1 lets a parser ignore the mark, and some programs on Windows write it.
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Whether a file begins like a HAR, or is a zip file with one.
  static func isIn(_ file: ArchiveFile) -> Bool {
    switch ArchiveFormat(ofFileBeginningWith: file.start) {
    case .zip:
      let names = file.zipNames
      return names.first != Array(NativeArchive.headerName.utf8) && names.contains { isName($0) }
    case .tarGzip, .tarZstd: return isText(file.decodedStart(longestStart))
    case .tar: return false
    case nil: return isText(file.start)
    }
  }

  /// The number of bytes that show whether text is JSON: some white space may precede it.
  private static let longestStart = 256

  /// Whether bytes begin like a JSON object in UTF-8, or in UTF-16 with a byte order mark.
  private static func isText(_ start: [UInt8]) -> Bool {
    var text = start[...]
    if let order = UTF16Order(start) {
      text = text.dropFirst(2).filter { $0 != 0 }[...]
      guard start.count > 3, start[order == .little ? 3 : 2] == 0 else { return false }
    } else if text.starts(with: byteOrderMark) {
      text = text.dropFirst(byteOrderMark.count)
    }
    return text.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: "{")
  }

  /// Whether a member of a zip file is a HAR by its name.
  private static func isName(_ name: [UInt8]) -> Bool {
    name.suffix(4).map(\.asciiLowercased) == Array(".har".utf8)
  }

  /// Opens the text.
  ///
  /// - Throws: ``ResponseArchiveError``, or any error from reading.
  init(of file: ArchiveFile, limits: ArchiveLimits) throws {
    var text = FileBytes(file)
    var attachments = HARAttachments(inFolder: file.folder)
    do {
      switch ArchiveFormat(ofFileBeginningWith: file.start) {
      case .zip: (text, attachments) = try Self.unpacked(file, limits)
      case let format:
        if let coding = format?.coding { text = try Self.decoded(file, coding, limits) }
      }
    } catch let error as ArchiveError {
      throw ResponseArchiveError(.damaged, at: file.path, "\(error)")
    } catch let error as ContentDecodingError {
      throw ResponseArchiveError(.damaged, at: file.path, "\(error)")
    }
    var start = [UInt8](repeating: 0, count: Self.byteOrderMark.count)
    let count = try text.read(&start, 0)
    if let order = UTF16Order(Array(start[..<count])) {
      text = try Self.transcoded(text, order)
      self.start = 0
    } else {
      self.start = start == Self.byteOrderMark ? Int64(start.count) : 0
    }
    (bytes, self.attachments) = (text, attachments)
  }

  /// Returns the decoded text of a compressed file.
  private static func decoded(
    _ file: ArchiveFile, _ coding: ContentCoding, _ limits: ArchiveLimits
  ) throws -> FileBytes {
    var copy = try TemporaryFile()
    var offset: Int64 = 0
    try ContentDecoder(coding, limit: .max).decode { buffer in
      let count = try file.read(into: &buffer, at: offset)
      offset += Int64(count)
      return count
    } _: { piece in
      try copy.append(Array(piece))
      try limits.check(ByteCount(copy.size), .total, at: file.path)
      try limits.checkRatio(ByteCount(copy.size), outOf: ByteCount(offset), at: file.path)
    }
    return FileBytes(copy)
  }

  /// Extracts the members of a zip file.
  private static func unpacked(
    _ file: ArchiveFile, _ limits: ArchiveLimits
  ) throws -> (FileBytes, HARAttachments) {
    var check = ZipDirectoryCheck(file.makeInput())
    try check.run()
    var zip = try ArchiveReader(.zip, of: file.makeInput())
    var text = try TemporaryFile()
    var bodies = try TemporaryFile()
    var members: [ByteString: Range<Int64>] = [:]
    var (hasText, number) = (false, 0 as Int64)
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while let member = try zip.next() {
      number += 1
      try limits.check(number, .entries, at: file.path)
      guard let name = member.name, name.last != UInt8(ascii: "/") else { continue }
      if let finding = member.finding {
        throw ResponseArchiveError(.damaged, at: file.path, "member \(number) \(finding)")
      }
      let isText = isName(name)
      guard !isText || !hasText else {
        throw ResponseArchiveError(
          .notAnArchive, at: file.path, "it is a zip file with several HAR files",
          hint: "unpack it, and import the HAR files one by one")
      }
      hasText = hasText || isText
      let start = bodies.size
      while case let count = try zip.read(into: &buffer), count > 0 {
        try checkSignals()
        if isText {
          try text.append(Array(buffer[..<count]))
        } else {
          try bodies.append(Array(buffer[..<count]))
        }
        let total = ByteCount(text.size) + ByteCount(bodies.size)
        try limits.check(total, .total, at: file.path)
        try limits.checkRatio(total, outOf: file.status.size, at: file.path)
        if !isText { try limits.check(ByteCount(bodies.size - start), .member, at: file.path) }
      }
      if !isText { members[ByteString(name)] = start..<bodies.size }
    }
    guard hasText else {
      throw ResponseArchiveError(.damaged, at: file.path, "its HAR is missing")
    }
    return (FileBytes(text), HARAttachments(members, of: FileBytes(bodies)))
  }

  private static func transcoded(
    _ text: FileBytes, _ order: UTF16Order
  ) throws -> FileBytes {
    var copy = try TemporaryFile()
    var offset: Int64 = 2
    var (buffer, rest) = ([UInt8](repeating: 0, count: 1 << 16), [UInt16]())
    while true {
      // An odd number of bytes cannot be read in the middle: the next read begins after the last whole unit.
      var count = 0
      while count < 2 {
        var part = [UInt8](repeating: 0, count: buffer.count - count)
        let read = try text.read(&part, offset + Int64(count))
        if read == 0 { break }
        buffer.replaceSubrange(count..<count + read, with: part[..<read])
        count += read
      }
      let units = rest + order.units(buffer[..<count])
      offset += Int64(count / 2 * 2)
      let isEnd = count < 2
      // A pair of surrogates may be divided between two reads.
      let isDivided = !isEnd && units.last.map { 0xD800...0xDBFF ~= $0 } ?? false
      rest = isDivided ? units.suffix(1) : []
      try copy.append(Array(String(decoding: units.dropLast(rest.count), as: UTF16.self).utf8))
      if isEnd { return FileBytes(copy) }
    }
  }
}

/// The order of the bytes of UTF-16.
private enum UTF16Order {
  case little, big

  /// Recognizes the byte order mark at the start of a text.
  init?(_ start: [UInt8]) {
    if start.starts(with: [0xFF, 0xFE]) {
      self = .little
    } else if start.starts(with: [0xFE, 0xFF]) {
      self = .big
    } else {
      return nil
    }
  }

  /// Returns the units of whole pairs of bytes.
  func units(_ bytes: ArraySlice<UInt8>) -> [UInt16] {
    stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).map { index in
      let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
      return self == .little ? second << 8 | first : first << 8 | second
    }
  }
}

/// The bodies of a HAR in files of their own, by the names that entries give (`_file` of Playwright).
struct HARAttachments {
  /// Returns the size of a body; `nil` if there is none of that name.
  let size: (ByteString) -> ByteCount?

  /// Opens a body.
  let open: (ByteString) throws -> BodyReader

  /// Creates the bodies that are files in the folder of a HAR; none if there is no folder.
  init(inFolder path: String?) {
    let folder = path.flatMap { try? Folder($0) }
    size = { name in try? folder?.file(named: name)?.size }
    open = { name in
      guard let file = try folder?.file(named: name) else {
        throw StoreError(.changedWhileReading, at: path, because: "the file of a body disappeared")
      }
      return BodyReader(size: file.size) { try file.read(into: &$0) }
    }
  }

  /// Creates the bodies that are parts of an extracted file.
  init(_ members: [ByteString: Range<Int64>], of bytes: FileBytes) {
    size = { members[$0].map { ByteCount($0.count) } }
    open = { name in
      var rest = members[name] ?? 0..<0
      return BodyReader(size: ByteCount(rest.count)) { buffer in
        if rest.isEmpty { return 0 }
        let count = min(Int64(try bytes.read(&buffer, rest.lowerBound)), Int64(rest.count))
        rest = rest.lowerBound + count..<rest.upperBound
        return Int(count)
      }
    }
  }

  private final class Folder {
    private let directory: Directory

    init(_ path: String) throws(FileError) {
      directory = try Directory(path, followingLink: true)
    }

    /// Opens a file, without following a link; `nil` if the name is a path, or the file is not regular.
    func file(named name: ByteString) throws -> File? {
      let name = name.bytes
      // A HAR of a stranger must not name files elsewhere.
      guard !name.isEmpty, name.count <= 255, !name.contains(UInt8(ascii: "/")),
        !name.contains(0), name != Array(".".utf8), name != Array("..".utf8)
      else { return nil }
      let file = try File(OpenFile(reading: name, in: directory))
      return file.isRegular ? file : nil
    }
  }

  private final class File {
    private let file: OpenFile
    let size: ByteCount
    let isRegular: Bool

    init(_ file: consuming OpenFile) throws(FileError) {
      let status = try file.status()
      (size, isRegular) = (status.size, status.kind == .regular)
      self.file = file
    }

    func read(into buffer: inout [UInt8]) throws(FileError) -> Int { try file.read(into: &buffer) }
  }
}
