import Archive
import Bytes
import ResponseStorage

/// The formats that entries are exported to.
public enum ExportFormat: String, Hashable, Sendable, CaseIterable {
  /// The native archive as a tar file, compressed with zstd.
  case tarZstd = "tar.zst"
  /// The native archive as a tar file, compressed with gzip.
  case tarGzip = "tar.gz"
  /// The native archive as an uncompressed tar file.
  case tar
  /// The native archive as a zip file.
  case zip
  /// HAR 1.2, for the developer tools of browsers.
  case har
  /// WARC 1.1, each record compressed with gzip, for web archives.
  case warcGzip = "warc.gz"
  /// WARC 1.1, for web archives.
  case warc
  /// WACZ 1.1.1, a WARC file with an index, for ReplayWeb.page.
  case wacz
  /// A folder with a file for each body and an index of them.
  case files
  /// A SQLite database with tables of decoded entries, for other programs.
  case sqlite

  /// Creates the format that the extension of a file name belongs to; `nil` if it belongs to none.
  public init?(ofFileNamed name: String) {
    let name = ByteString(name).asciiLowercased.bytes
    func ends(_ ending: String) -> Bool { name.reversed().starts(with: ending.utf8.reversed()) }
    let found = Self.allCases.first { $0.endings.contains(where: ends) }
    guard let found else { return nil }
    self = found
  }

  /// The file name extensions of the format.
  public var endings: [String] {
    switch self {
    case .tarZstd: [".tar.zst", ".tzst"]
    case .tarGzip: [".tar.gz", ".tgz"]
    case .tar: [".tar"]
    case .zip: [".zip"]
    case .har: [".har"]
    case .files: []
    case .sqlite: [".sqlite", ".sqlite3"]
    case .warcGzip: [".warc.gz"]
    case .warc: [".warc"]
    case .wacz: [".wacz"]
    }
  }

  /// Whether the format keeps everything in an entry, including credentials.
  public var isNative: Bool { container != nil }

  /// What the format loses, for people: the end of "does not hold …". `nil` if it loses nothing.
  public var losses: String? {
    switch self {
    case .tarZstd, .tarGzip, .tar, .zip: nil
    case .har:
      "user info, request timeouts and the original property lists; stored times are"
        + " rounded to milliseconds"
    case .files: "requests, header fields, and entries without a body"
    case .sqlite: "bodies and the original property lists"
    case .warcGzip, .warc, .wacz:
      "user info, partitions, storage policies, first-stored times and the original property"
        + " lists"
    }
  }

  /// The compression levels, from fastest to smallest; `nil` if the format is not compressed.
  public var levels: ClosedRange<Int>? {
    switch self {
    case .warcGzip, .wacz: 1...9
    default: container?.levels
    }
  }

  /// The container of a native archive; `nil` for other formats.
  private var container: ArchiveFormat? {
    switch self {
    case .tarZstd: .tarZstd
    case .tarGzip: .tarGzip
    case .tar: .tar
    case .zip: .zip
    case .har: nil
    case .files, .sqlite: nil
    case .warcGzip, .warc, .wacz: nil
    }
  }

  /// Creates a writer for the format.
  func makeWriter(
    for export: ArchiveExport, of source: RawLayout,
    writing write: @escaping ([UInt8]) throws -> Void
  ) throws -> any ResponseArchiveWriter {
    switch self {
    case .tarZstd: try NativeArchiveExport(.tarZstd, for: export, of: source, writing: write)
    case .tarGzip: try NativeArchiveExport(.tarGzip, for: export, of: source, writing: write)
    case .tar: try NativeArchiveExport(.tar, for: export, of: source, writing: write)
    case .zip: try NativeArchiveExport(.zip, for: export, of: source, writing: write)
    case .har: try HARExport(for: export, writing: write)
    case .files, .sqlite:
      throw ResponseArchiveError(.cannotWrite, "'\(rawValue)' is not an archive format")
    case .warcGzip: try WARCExport(level: export.level ?? 6, for: export, writing: write)
    case .warc: try WARCExport(level: nil, for: export, writing: write)
    case .wacz: try WACZExport(for: export, writing: write)
    }
  }
}
