/// What an archive says of one of its members.
public struct ArchiveMember: Hashable, Sendable {
  /// The name, byte for byte; `nil` if libarchive cannot tell it.
  public var name: [UInt8]?

  /// The number of bytes; `nil` if the archive does not say.
  public var size: Int64?

  /// Why the member is no plain file, if it is none: a clause.
  public var finding: String?
}
