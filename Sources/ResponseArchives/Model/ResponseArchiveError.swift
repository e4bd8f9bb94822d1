/// An error from reading or writing an archive.
public struct ResponseArchiveError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of failure.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// The file is not an archive of a known kind.
    case notAnArchive = "not-an-archive"
    /// The archive needs a newer version of this program.
    case tooNew = "too-new"
    /// The archive is damaged, truncated or malformed.
    case damaged = "damaged-archive"
    /// The archive exceeds a limit.
    case limit
    /// The archive cannot be written.
    case cannotWrite = "cannot-write"
  }

  /// The kind of failure.
  public let kind: Kind

  /// The path of the archive; `nil` while writing one.
  public let path: String?

  /// What happened. It quotes nothing from the archive except digits and names that this program defines.
  public let description: String

  /// What the user can do, if that does not follow from the kind.
  public let hint: String?

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - path: The path of the archive; `nil` while writing one.
  ///   - fact: What happened. It must quote nothing from the archive except digits and names that this program
  ///     defines.
  ///   - hint: What the user can do, if that does not follow from the kind.
  public init(_ kind: Kind, at path: String? = nil, _ fact: String, hint: String? = nil) {
    self.hint = hint
    self.kind = kind
    self.path = path
    description = path.map { "'\($0)': \(fact)" } ?? fact
  }
}
