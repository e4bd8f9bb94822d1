/// A content coding (RFC 9110, section 8.4.1) that can be detected from the first bytes of data.
///
/// Brotli cannot, as its data has no signature.
public enum ContentCoding: String, Hashable, Sendable, CaseIterable {
  /// RFC 1952: one or more members, each with a checksum.
  case gzip
  /// RFC 8878: one or more frames, each with an optional checksum.
  case zstd

  /// The most bytes that ``init(ofDataBeginningWith:)`` needs.
  public static let longestMark = 4

  /// Detects the coding from the first bytes; `nil` if it is neither.
  public init?(ofDataBeginningWith start: ArraySlice<UInt8>) {
    guard let coding = Self.allCases.first(where: { start.starts(with: $0.mark) }) else {
      return nil
    }
    self = coding
  }

  /// The signature at the start of the data.
  private var mark: [UInt8] {
    switch self {
    case .gzip: [0x1F, 0x8B]
    case .zstd: [0x28, 0xB5, 0x2F, 0xFD]
    }
  }
}
