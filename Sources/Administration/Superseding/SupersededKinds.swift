public import Bytes

/// The number of superseded entries of each kind.
public struct SupersededKinds: Hashable, Sendable {
  /// The number of entries, for each kind that has any.
  public private(set) var counts: [ResourceVersion.Kind: Int64] = [:]

  /// Creates empty counts.
  public init() {}

  /// Counts a superseded entry by its URL, or by its key if the URL is unknown.
  public mutating func insert(_ url: ByteString?) {
    guard let kind = url.flatMap({ ResourceVersion(of: $0) })?.kind else { return }
    counts[kind, default: 0] += 1
  }

  /// The counts as a clause; `nil` if there are none.
  public var words: String? {
    let parts = ResourceVersion.Kind.allCases.compactMap { kind in
      counts[kind].map { "\($0) by \(kind.words)" }
    }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}

extension ResourceVersion.Kind {
  /// The kind of mark, in words.
  fileprivate var words: String {
    switch self {
    case .hash: "a hash in the file name"
    case .number: "a version number in the path"
    case .date: "a date in the file name"
    case .parameter: "a version parameter"
    case .signature: "the signature of the URL"
    }
  }
}
