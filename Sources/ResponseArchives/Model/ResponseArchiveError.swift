/// An archive, of whatever kind, that cannot be written or read.
public struct ResponseArchiveError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of failure.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// The file is no archive, or none of a kind that is known.
    case notAnArchive = "not-an-archive"
    /// The archive needs a newer version of this program.
    case tooNew = "too-new"
    /// The archive is damaged, cut off, or not made as an archive is.
    case damaged = "damaged-archive"
    /// The archive goes beyond a limit.
    case limit
    /// The archive cannot be written.
    case cannotWrite = "cannot-write"
  }

  /// What kind of failure it is.
  public let kind: Kind

  /// The path of the archive; `nil` of one that is being written.
  public let path: String?

  /// What happened, with the facts. It holds no bytes of an archive but digits and its own names.
  public let description: String

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - path: The path of the archive; `nil` of one that is being written.
  ///   - fact: What happened, without bytes of the archive but digits and its own names.
  public init(_ kind: Kind, at path: String? = nil, _ fact: String) {
    self.kind = kind
    self.path = path
    description = path.map { "'\($0)': \(fact)" } ?? fact
  }
}
