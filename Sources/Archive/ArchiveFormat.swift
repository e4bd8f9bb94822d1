internal import CArchive

/// A format of archives that can be written and read.
public enum ArchiveFormat: String, Hashable, Sendable, CaseIterable {
  /// A tar archive (the ustar format of POSIX).
  case tar
  /// A tar archive, compressed by gzip (RFC 1952).
  case tarGzip = "tar.gz"
  /// A tar archive, compressed by zstd (RFC 8878).
  case tarZstd = "tar.zst"
  /// A zip archive, whose members are compressed individually.
  case zip

  /// The most bytes that ``init(ofFileBeginningWith:)`` needs: a tar header.
  public static let longestMark = 512

  /// Detects the format from the first bytes of a file; `nil` if it is unknown.
  ///
  /// Any compressed file counts as a tar archive.
  public init?(ofFileBeginningWith start: [UInt8]) {
    switch ContentCoding(ofDataBeginningWith: start[...]) {
    case .gzip: self = .tarGzip
    case .zstd: self = .tarZstd
    case nil where start.starts(with: Array("PK\u{3}\u{4}".utf8)): self = .zip
    // The signature of an archive without members.
    case nil where start.starts(with: Array("PK\u{5}\u{6}".utf8)): self = .zip
    // The mark of POSIX headers is behind the name, mode, owners, size, time and type. The older
    // tar format has none. It is not accepted, as nearly any file with zeros could be one.
    case nil where start.dropFirst(257).starts(with: Array("ustar".utf8)): self = .tar
    case nil: return nil
    }
  }

  /// The coding of the whole archive, if it has one.
  public var coding: ContentCoding? {
    switch self {
    case .tar, .zip: nil
    case .tarGzip: .gzip
    case .tarZstd: .zstd
    }
  }

  /// The longest member, in bytes: a tar header has eleven octal digits for the size.
  public var longestMember: Int64 { self == .zip ? .max : 1 << 33 - 1 }

  /// The compression levels, from the fastest to the smallest; `nil` for no compression.
  public var levels: ClosedRange<Int>? {
    switch self {
    case .tar: nil
    case .tarGzip, .zip: 1...9
    // Levels 20 to 22 use windows of up to 128 MiB, and whoever reads the archive needs that memory
    // too.
    case .tarZstd: 1...19
    }
  }
}

/// An error of writing or reading an archive.
public struct ArchiveError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What happened: a clause. It contains no bytes of the archive.
  public let description: String

  /// libarchive could not allocate a handle.
  static let outOfMemory = Self("out of memory")

  init(_ description: String) {
    self.description = description
  }

  /// Creates an error with libarchive's message for the last failure of a handle.
  init(of archive: OpaquePointer) {
    let message = unsafe archive_error_string(archive)
    unsafe description = message.map { unsafe String(cString: $0) } ?? "libarchive gives no reason"
  }
}
