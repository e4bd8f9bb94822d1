/// How much an archive may hold to be read: what is beyond is an error that names the limit.
public struct ArchiveLimits: Hashable, Sendable {
  /// The names of the limits.
  public enum Name: String, Hashable, Sendable, CaseIterable {
    /// The number of entries.
    case entries
    /// The number of members.
    case members
    /// The bytes of a member.
    case member
    /// The bytes of all members.
    case total
    /// How many bytes come out for each byte of the file, once 16 MiB have.
    case ratio
    /// The bytes of a JSON document.
    case document
    /// The bytes of a property list.
    case list
  }

  private var values: [Name: Int64] = [
    .entries: 1_000_000, .members: 8_000_000, .member: 4 << 30, .total: 64 << 30, .ratio: 1_000,
    .document: 64 << 20, .list: 32 << 20,
  ]

  /// Creates the limits that are in force unless somebody says otherwise.
  public init() {}

  /// A limit.
  public subscript(name: Name) -> Int64 {
    get { values[name] ?? 0 }
    set { values[name] = newValue }
  }

  /// From how many bytes on the ratio matters.
  static let ratioThreshold: Int64 = 16 << 20

  /// Makes sure that a number is within a limit.
  func check(_ value: Int64, _ name: Name, at path: String) throws(ResponseArchiveError) {
    guard value > self[name] else { return }
    throw ResponseArchiveError(
      .limit, at: path, "it is beyond the limit '\(name.rawValue)', which is \(self[name])")
  }
}
