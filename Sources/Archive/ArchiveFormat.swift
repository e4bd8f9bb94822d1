/// The kinds of archives that can be written and read.
public enum ArchiveFormat: String, Hashable, Sendable, CaseIterable {
  /// A tar archive (the ustar format of POSIX).
  case tar
  /// A tar archive, compressed by gzip (RFC 1952).
  case tarGzip = "tar.gz"
  /// A tar archive, compressed by zstd (RFC 8878).
  case tarZstd = "tar.zst"
  /// A zip archive, whose members are compressed one by one.
  case zip

  /// The most bytes that ``init(ofFileBeginningWith:)`` looks at: a header of tar.
  public static let longestMark = 512

  /// Tells the format by the first bytes of a file; `nil` if they are of none.
  ///
  /// What is compressed counts as a tar archive, whatever it turns out to be.
  public init?(ofFileBeginningWith start: [UInt8]) {
    switch ContentCoding(ofDataBeginningWith: start[...]) {
    case .gzip: self = .tarGzip
    case .zstd: self = .tarZstd
    case nil where start.starts(with: Array("PK\u{3}\u{4}".utf8)): self = .zip
    // The mark of an archive without members.
    case nil where start.starts(with: Array("PK\u{5}\u{6}".utf8)): self = .zip
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

  /// The longest member that it can hold, in bytes: a header of tar has room for eleven octal digits.
  public var longestMember: Int64 { self == .zip ? .max : 1 << 33 - 1 }

  /// How hard the archive can be compressed, from the fastest to the smallest; `nil` if not at all.
  public var levels: ClosedRange<Int>? {
    switch self {
    case .tar: nil
    case .tarGzip, .zip: 1...9
    case .tarZstd: 1...19
    }
  }
}
