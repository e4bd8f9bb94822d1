/// A content coding (RFC 9110, section 8.4.1) that data can be told to have by its first bytes.
///
/// Brotli is none of them, as its data begins with no fixed bytes.
public enum ContentCoding: String, Hashable, Sendable, CaseIterable {
  /// RFC 1952: one or more members, each with a checksum.
  case gzip
  /// RFC 8878: one or more frames, each with a checksum if its maker wanted one.
  case zstd

  /// The most bytes that ``init(ofDataBeginningWith:)`` looks at.
  public static let longestMark = 4

  /// Tells the coding by the first bytes; `nil` if they are of neither.
  public init?(ofDataBeginningWith start: ArraySlice<UInt8>) {
    guard let coding = Self.allCases.first(where: { start.starts(with: $0.mark) }) else {
      return nil
    }
    self = coding
  }

  /// What data begins with.
  private var mark: [UInt8] {
    switch self {
    case .gzip: [0x1F, 0x8B]
    case .zstd: [0x28, 0xB5, 0x2F, 0xFD]
    }
  }
}
