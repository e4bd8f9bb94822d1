import Archive

/// The formats that entries are exported to.
public enum ExportFormat: String, Hashable, Sendable, CaseIterable {
  /// The native archive in tar, compressed by zstd.
  case tarZstd = "tar.zst"
  /// The native archive in tar, compressed by gzip.
  case tarGzip = "tar.gz"
  /// The native archive in tar.
  case tar
  /// The native archive in zip.
  case zip

  /// Tells the format by the name of a file; `nil` if it ends as that of none.
  public init?(ofFileNamed name: String) {
    guard let container = ArchiveFormat(ofFileNamed: name),
      let format = Self.allCases.first(where: { $0.container == container })
    else { return nil }
    self = format
  }

  /// How hard the format can be compressed, from the fastest to the smallest; `nil` if not at all.
  public var levels: ClosedRange<Int>? { container.levels }

  /// What holds the members.
  var container: ArchiveFormat {
    switch self {
    case .tarZstd: .tarZstd
    case .tarGzip: .tarGzip
    case .tar: .tar
    case .zip: .zip
    }
  }
}
