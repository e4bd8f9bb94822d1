import Archive
import Bytes
import Files
import JSON
import ResponseStorage
import SQLite

/// Writes entries as a WACZ file (WACZ 1.1.1): a zip file of a WARC file, an index of it, and a list of pages.
///
/// The package description contains the digests of all of them, and zip requires sizes before contents. So everything
/// that grows with the entries is written to unlinked files first.
final class WACZExport: ResponseArchiveWriter {
  private let export: ArchiveExport
  private let write: ([UInt8]) throws -> Void
  private let contents: Contents
  private let warc: WARCExport

  /// The contents of the zip file, which is written at the end.
  private final class Contents {
    var warc: PackageFile
    var pages: PackageFile
    var index = Scratch.Sort<IndexLine>()

    init() throws(FileError) {
      warc = try PackageFile()
      pages = try PackageFile()
    }
  }

  /// Starts a file.
  init(for export: ArchiveExport, writing write: @escaping ([UInt8]) throws -> Void) throws {
    self.export = export
    self.write = write
    let contents = try Contents()
    self.contents = contents
    warc = try WARCExport(level: export.level ?? 6, for: export) { capture in
      // Readers search by bisection over bytes, as `LC_ALL=C sort` orders them.
      let line = capture.indexLine
      try contents.index.insert(IndexLine(bytes: line), by: .bytes(line))
      if capture.isPage { try contents.pages.append(capture.pageLine) }
    } writing: {
      try write([])
      try contents.warc.append($0)
    }
    try contents.pages.append(Self.pagesHeader)
  }

  private static var pagesHeader: [UInt8] {
    JSONWriter.bytes(.ascii) { json in
      json.object { json in
        json.member("format", "json-pages-1.0")
        json.member("id", "pages")
        json.member("title", "All pages")
      }
      json.endLine()
    }
  }

  func append(_ entry: ExportedEntry) throws -> String? { try warc.append(entry) }

  func finish(_ summary: ArchiveExport.Summary) throws {
    try warc.finish(summary)
    var index = try PackageFile()
    var lines = try contents.index.removeAll()
    while let line = try lines.next() {
      try write([])
      try index.append(line.bytes + [0x0A])
    }
    let package = package([
      (WACZ.archiveFolder + WACZ.warcName, contents.warc.size, contents.warc.sha256),
      (WACZ.indexName, index.size, index.sha256),
      (WACZ.pagesName, contents.pages.size, contents.pages.sha256),
    ])
    var zip = try ArchiveWriter(.zip, level: export.level, writing: write)
    // Players read byte ranges of the WARC file, so it must not be compressed.
    try contents.warc.copy(
      to: &zip, as: WACZ.archiveFolder + WACZ.warcName, isCompressed: false)
    try index.copy(to: &zip, as: WACZ.indexName)
    try contents.pages.copy(to: &zip, as: WACZ.pagesName)
    try zip.append(WACZ.packageName, package)
    // Without it, the one document that holds all digests would have none itself.
    try zip.append(WACZ.packageDigestName, Self.packageDigest(of: package))
    try zip.finish()
  }

  private func package(_ resources: [(path: String, size: ByteCount, sha256: String)]) -> [UInt8] {
    JSONWriter.bytes(.ascii) { json in
      json.object(.lines) { json in
        json.member("created", export.created ?? .epoch)
        // `wacz validate` refuses the profile of WACZ 1.2, so this writes 1.1.1.
        json.member("profile", "data-package")
        json.array("resources", objects: resources) { json, resource in
          json.member("bytes", resource.size)
          json.member("hash", "sha256:\(resource.sha256)")
          let name = resource.path.utf8.split(separator: UInt8(ascii: "/")).last ?? []
          json.member("name", repairing: Array(name))
          json.member("path", resource.path)
        }
        json.member("software", "\(WARCLabel.software)\(export.generatorVersion)")
        json.member("title", "Entries of a URLCache")
        json.member("wacz_version", WACZ.version)
      }
      json.endLine()
    }
  }

  private static func packageDigest(of package: [UInt8]) -> [UInt8] {
    JSONWriter.bytes(.ascii) { json in
      json.object(.lines) { json in
        json.member("hash", "sha256:\(Digest(of: package).hexadecimal)")
        json.member("path", WACZ.packageName)
      }
      json.endLine()
    }
  }
}

/// A line of the index, without its line feed.
private struct IndexLine: ScratchRow {
  let bytes: [UInt8]

  init(bytes: [UInt8]) { self.bytes = bytes }

  func pack(into values: inout PackedValues) { values.append(bytes) }

  init(from reader: inout PackedReader) throws(PackedReader.Failure) { bytes = try reader.data() }
}

/// A temporary file, with its digest, that is added to a zip file when it is complete.
private struct PackageFile: ~Copyable {
  private var file: TemporaryFile
  private var digest = Digest()

  init() throws(FileError) {
    file = try TemporaryFile()
  }

  var size: ByteCount { ByteCount(file.size) }

  /// The SHA-256 digest of all bytes so far, in lowercase hexadecimal.
  var sha256: String { digest.hexadecimal }

  mutating func append(_ bytes: [UInt8]) throws(FileError) {
    digest.update(bytes[...])
    try file.append(bytes)
  }

  borrowing func copy(
    to zip: inout ArchiveWriter, as name: String, isCompressed: Bool = true
  ) throws {
    try zip.begin(name, size: file.size, isCompressed: isCompressed)
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var offset: Int64 = 0
    while case let count = try file.read(into: &buffer, at: offset), count > 0 {
      try checkSignals()
      try zip.append(buffer[..<count])
      offset += Int64(count)
    }
  }
}
