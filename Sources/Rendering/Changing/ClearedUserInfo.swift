public import Administration
import Bytes
import JSON
public import ResponseStorage

/// Renders the result of clearing the user info of entries.
public struct ClearedUserInfo {
  /// The cache.
  public var store: StoreDescription
  /// The keys to clear.
  public var keys: [String]
  /// Whether this is a dry run, which changes nothing.
  public var isDryRun: Bool
  /// The number of selected entries.
  public var selected: Int64 = 0
  /// The entries that were cleared; in a dry run, those that would be.
  public var cleared: UserInfoPlan
  /// The number of entries that changed meanwhile and were left alone.
  public var skipped = 0

  /// Creates the result of a run, before it has found any entries.
  public init(
    of keys: [String], _ cleared: UserInfoPlan, in store: StoreDescription, isDryRun: Bool
  ) {
    (self.keys, self.cleared, self.store, self.isDryRun) = (keys, cleared, store, isDryRun)
  }

  /// Appends one line for the total and one for each of the first entries.
  ///
  /// - Throws: `FileError` if the entries cannot be read.
  public func appendText(_ secrets: SecretPolicy, into buffer: inout TextBuffer) throws {
    buffer.append(isDryRun ? "Would clear " : "Cleared ")
    for (index, key) in keys.enumerated() {
      buffer.append(index == 0 ? "'" : ", '")
      // A key comes from the command line, but may have been copied from a cache, with whatever a
      // hostile one wrote there.
      buffer.append(shown: ByteString(key))
      buffer.append("'")
    }
    buffer.append(" in ")
    buffer.append(grouped: Int64(cleared.count))
    buffer.append(" of ")
    buffer.append(grouped: selected)
    buffer.append(selected == 1 ? " selected entry\n" : " selected entries\n")
    // The total says how much was done, and the first few whether it was what the user meant. JSON
    // has all.
    var left = Self.mostShown
    try cleared.forEach { entry in
      buffer.append("  ")
      buffer.append(shown: entry.url.map { secrets.url($0, for: .people) } ?? "-")
      buffer.append("\n")
      left -= 1
      return left > 0
    }
    let rest = cleared.count - Self.mostShown
    if rest > 0 {
      buffer.append("  … and ")
      buffer.append(grouped: Int64(rest))
      buffer.append(" more\n")
    }
  }

  private static let mostShown = 10

  /// Appends one JSON object.
  ///
  /// - Parameter flush: Is called after each entry, of which there may be millions.
  /// - Throws: `FileError` if the entries cannot be read, or the error that `flush` throws.
  public func appendJSON(
    _ secrets: SecretPolicy, into buffer: inout TextBuffer,
    _ flush: (inout TextBuffer) throws -> Void
  ) throws {
    var stream = JSONStream(.hostileText)
    stream.begin("cleared", in: &buffer.bytes) { json in
      json.member(schema: "expire")
      json.member("dry_run", isDryRun)
      json.member("cache", store)
      json.member("keys", keys)
      json.member("selected", selected)
      json.member("skipped", skipped)
    }
    try cleared.forEach { entry in
      stream.append(to: &buffer.bytes) { json in
        json.object {
          $0.member(id: entry.change.id)
          $0.member("url", url: entry.url, secrets)
        }
      }
      try flush(&buffer)
      return true
    }
    stream.end(in: &buffer.bytes)
  }
}
