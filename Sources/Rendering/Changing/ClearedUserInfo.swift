public import Bytes
import JSON
public import ResponseStorage

/// Renders the result of clearing the user info of entries.
public struct ClearedUserInfo: Sendable {
  /// The cache.
  public var store: StoreDescription
  /// The keys to clear.
  public var keys: [String]
  /// Whether this is a dry run, which changes nothing.
  public var isDryRun: Bool
  /// The number of selected entries.
  public var selected: Int64 = 0
  /// The selected entries that had any of the keys, with their URLs.
  public var entries: [(id: StoredResponse.ID, url: ByteString?)] = []
  /// The entries among them that changed meanwhile and were left alone.
  public var skipped: Set<StoredResponse.ID> = []

  /// Creates the result of a run, before it has found any entries.
  public init(of keys: [String], in store: StoreDescription, isDryRun: Bool) {
    (self.keys, self.store, self.isDryRun) = (keys, store, isDryRun)
  }

  private var done: [(id: StoredResponse.ID, url: ByteString?)] {
    // An entry that changed meanwhile has a new stamp, which was left alone, so it must not be
    // reported as cleared.
    entries.filter { !skipped.contains($0.id) }
  }

  /// Appends one line for the total and one for each of the first entries.
  public func appendText(_ secrets: SecretPolicy, into buffer: inout TextBuffer) {
    buffer.append(isDryRun ? "Would clear " : "Cleared ")
    for (index, key) in keys.enumerated() {
      buffer.append(index == 0 ? "'" : ", '")
      // A key comes from the command line, but may have been copied from a cache, with whatever a
      // hostile one wrote there.
      buffer.append(shown: ByteString(key))
      buffer.append("'")
    }
    buffer.append(" in ")
    buffer.append(grouped: Int64(done.count))
    buffer.append(" of ")
    buffer.append(grouped: selected)
    buffer.append(selected == 1 ? " selected entry\n" : " selected entries\n")
    // The total says how much was done, and the first few whether it was what the user meant. JSON
    // has all.
    for entry in done.prefix(Self.mostShown) {
      buffer.append("  ")
      buffer.append(shown: entry.url.map { secrets.url($0, for: .people) } ?? "-")
      buffer.append("\n")
    }
    let rest = done.count - Self.mostShown
    if rest > 0 {
      buffer.append("  … and ")
      buffer.append(grouped: Int64(rest))
      buffer.append(" more\n")
    }
  }

  private static let mostShown = 10

  /// Appends one JSON object.
  public func appendJSON(_ secrets: SecretPolicy, into buffer: inout TextBuffer) {
    buffer.writeJSON(schema: "expire") {
      $0.member("dry_run", isDryRun)
      $0.member("cache", store)
      $0.member("keys", keys)
      $0.member("selected", selected)
      $0.member("skipped", skipped.count)
      $0.array("cleared", .lines, objects: done) { json, entry in
        json.member(id: entry.id)
        json.member("url", url: entry.url, secrets)
      }
    }
  }
}
