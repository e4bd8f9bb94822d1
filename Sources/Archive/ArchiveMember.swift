/// The header of a member of an archive.
public struct ArchiveMember: Hashable, Sendable {
  /// The name, byte for byte; `nil` if libarchive cannot decode it.
  public var name: [UInt8]?

  /// The size in bytes; `nil` if the archive does not contain it.
  public var size: Int64?

  /// Why the member is not a regular file, if it is not: a clause.
  public var finding: String?
}
