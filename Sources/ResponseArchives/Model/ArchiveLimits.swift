public import Bytes

/// The limits on the contents of an archive. Exceeding one is an error that names the limit.
public struct ArchiveLimits: Hashable, Sendable {
  /// The names of the limits.
  public enum Name: String, Hashable, Sendable, CaseIterable {
    /// The number of entries.
    case entries
    /// The number of members.
    case members
    /// The size of a member, in bytes.
    case member
    /// The total size of all members, in bytes.
    case total
    /// The total size of the URLs of all imported entries, in bytes.
    // They are kept in a temporary file until the import has ended.
    case urls
    /// The number of decoded bytes for each byte of the file, once 16 MiB were decoded.
    case ratio
    /// The size of a JSON document, in bytes.
    case document
    /// The size of a property list, in bytes.
    case list
  }

  // An entry has at most six members in a native archive: its document, four property lists and the
  // body. The others are the header, the manifest and the checksums.
  private var (entries, members) = (1_000_000 as Int64, 8_000_000 as Int64)
  // The size field of a ustar header has eleven octal digits, which is 8 GiB less a byte.
  private var (member, total) = (8 << 30 as Int64, 64 << 30 as Int64)
  private var urls: Int64 = 256 << 20
  // gzip compresses at most about 1,030 to 1, and real bodies far less. The beginning is exempt,
  // because a short archive of zeros is harmless.
  private var ratio: Int64 = 1_000
  private var (document, list) = (64 << 20 as Int64, 32 << 20 as Int64)

  /// Creates the default limits.
  public init() {}

  /// A limit.
  public subscript(name: Name) -> Int64 {
    get {
      switch name {
      case .entries: entries
      case .members: members
      case .member: member
      case .total: total
      case .urls: urls
      case .ratio: ratio
      case .document: document
      case .list: list
      }
    }
    set {
      switch name {
      case .entries: entries = newValue
      case .members: members = newValue
      case .member: member = newValue
      case .total: total = newValue
      case .urls: urls = newValue
      case .ratio: ratio = newValue
      case .document: document = newValue
      case .list: list = newValue
      }
    }
  }

  /// The decoded size from which the ratio is checked, in bytes.
  private static let ratioThreshold = ByteCount(16 << 20)

  /// Checks that a size is within a limit.
  ///
  /// - Parameter path: The path of the archive, for the error.
  public func check(_ size: ByteCount, _ name: Name, at path: String) throws(ResponseArchiveError) {
    try check(size.bytes, name, at: path)
  }

  /// Checks the number of decoded bytes against the number of bytes read.
  func checkRatio(
    _ size: ByteCount, outOf source: ByteCount, at path: String
  ) throws(ResponseArchiveError) {
    guard size > Self.ratioThreshold else { return }
    // Compared while decoding, so that a small file that expands to terabytes is refused after a
    // few megabytes.
    try check(size.bytes / max(1, source.bytes), .ratio, at: path)
  }

  /// Checks that a number is within a limit.
  ///
  /// - Parameter path: The path of the archive, for the error.
  public func check(_ value: Int64, _ name: Name, at path: String) throws(ResponseArchiveError) {
    guard value > self[name] else { return }
    throw ResponseArchiveError(
      .limit, at: path, "it exceeds the limit '\(name.rawValue)' of \(self[name])")
  }
}
