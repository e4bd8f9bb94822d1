public import Bytes
public import ResponseStorage

extension RemovalPlan {
  /// Why an entry is removed.
  public enum Reason: String, Hashable, Sendable, CaseIterable {
    /// The user selected it.
    case selected
    /// It is older than the age limit.
    case tooOld = "too-old"
    /// Its body is larger than the limit.
    case tooLarge = "too-large"
    /// The cache has more entries than the limit.
    case overEntries = "over-entries"
    /// The cache is larger than its limit.
    case overSize = "over-size"
    /// The file system has less free space than required.
    case minimumFree = "min-free"
    /// A rule removes it.
    case purgedByRule = "purged-by-rule"
    /// A rule forbids storing it.
    case neverByRule = "never-by-rule"
    /// It is older than a rule allows.
    case expired
    /// It has no row in one of the tables.
    case missingRow = "missing-row"
    /// Its body is missing.
    case missingBody = "missing-body"
    /// Its property lists cannot be decoded.
    case undecodable
  }

  /// An entry that is removed.
  public struct Entry: Hashable, Sendable {
    /// The response, as it was when the plan was made.
    public var version: ResponseVersion
    // The members are ordered to avoid padding: a plan may have a million entries.

    /// Whether the body is in a file that is removed with the entry, so that its space is freed at once.
    public var hasBodyFile: Bool
    /// Whether a rule would remove it at some age, and that age is unknown.
    public var isAgeUnknown = false
    /// Whether it is fresh; `nil` if unknown or not requested.
    public var state: ResponseFreshness.State?
    /// Why it is removed.
    public var reason: Reason
    /// Its URL.
    public var url: ByteString?
    /// The size of the body in bytes; `nil` if the body is missing.
    public var size: ByteCount?
    /// The time that its age counts from; `nil` if unknown or not requested.
    public var time: Timestamp?
    /// What it contributes to the space in use; zero if that was not requested.
    public var share = EntryShare()
    /// The decision of the rules; `nil` if no rule decides.
    public var verdict: EntryRules.Verdict?

    /// Creates an entry.
    public init(
      version: ResponseVersion, url: ByteString?, size: ByteCount?, hasBodyFile: Bool,
      time: Timestamp? = nil, state: ResponseFreshness.State? = nil,
      reason: Reason
    ) {
      self.time = time
      self.state = state
      self.version = version
      self.url = url
      self.size = size
      self.hasBodyFile = hasBodyFile
      self.reason = reason
    }

    /// The space that is freed with the entry at once, in bytes.
    public var returnedBytes: ByteCount { version.file?.size ?? (hasBodyFile ? size ?? 0 : 0) }
  }
}

extension RemovalPlan.Entry {
  /// Creates an entry from a response.
  ///
  /// - Parameter naming: Whether to record its URL and key.
  init(of response: borrowing StoredResponse, at time: Timestamp?, naming: Bool = true) {
    self.init(
      version: ResponseVersion(
        id: response.id, key: nil, stored: response.stored, file: response.file),
      url: nil, size: response.bodySize, hasBodyFile: response.bodyLocation == .file,
      time: time, reason: .selected)
    if naming { name(as: response) }
  }

  /// Records the URL and key.
  mutating func name(as response: borrowing StoredResponse) {
    // Copy the bytes: a plan may have a million entries, and a slice would keep its whole buffer alive.
    url = response.url.map { ByteString(copying: $0) }
    // Nearly all keys equal the URL, and then share its memory.
    version.key =
      response.key == response.url ? url : response.key.map { ByteString(copying: $0) }
  }
}
