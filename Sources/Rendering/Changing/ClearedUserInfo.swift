public import Bytes
import JSON
public import ResponseStorage

/// What was cleared of the user info of entries, as text.
public struct ClearedUserInfo: Sendable {
  /// The cache.
  public var store: StoreDescription
  /// The keys that were to go.
  public var keys: [String]
  /// Whether nothing was changed.
  public var isDryRun: Bool
  /// How many entries were selected.
  public var selected: Int64 = 0
  /// The entries that had any of the keys, with their URLs.
  public var entries: [(id: StoredResponse.ID, url: ByteString?)] = []
  /// Those of them that had changed meanwhile, and stayed as they were.
  public var skipped: Set<StoredResponse.ID> = []

  /// Creates the result of a run that has found nothing yet.
  public init(of keys: [String], in store: StoreDescription, isDryRun: Bool) {
    (self.keys, self.store, self.isDryRun) = (keys, store, isDryRun)
  }

  private var done: [(id: StoredResponse.ID, url: ByteString?)] {
    entries.filter { !skipped.contains($0.id) }
  }

  /// Appends a line about all entries, and one for each of the first.
  public func appendText(_ secrets: SecretPolicy, into buffer: inout TextBuffer) {
    buffer.append(isDryRun ? "Would clear " : "Cleared ")
    for (index, key) in keys.enumerated() {
      buffer.append(index == 0 ? "'" : ", '")
      buffer.append(shown: ByteString(key))
      buffer.append("'")
    }
    buffer.append(" of ")
    buffer.append(grouped: Int64(done.count))
    buffer.append(" of ")
    buffer.append(grouped: selected)
    buffer.append(selected == 1 ? " selected entry\n" : " selected entries\n")
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
