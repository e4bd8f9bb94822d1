public import Administration
import Bytes
import JSON
import ResponseStorage

/// Renders the URLs that a configuration pins.
public struct PinRenderer {
  private struct Row {
    var cache: String?
    var pin: Pin
  }

  private let rows: [Row]
  private let secrets: SecretPolicy

  /// Creates a renderer.
  ///
  /// - Parameters:
  ///   - cacheNames: The caches whose pins are shown, in addition to pins for all caches; `nil` for every cache.
  ///   - onlyForAll: Whether only pins for all caches are shown.
  public init(
    _ configuration: Configuration, cacheNames: [String]?, onlyForAll: Bool, secrets: SecretPolicy
  ) {
    self.secrets = secrets
    rows = configuration.files.flatMap { file in
      let caches = file.caches.filter {
        // Pins for all caches are shown with any of them, since they hold there as well.
        !onlyForAll && (cacheNames == nil || cacheNames?.contains($0.name) == true)
      }
      return caches.flatMap { cache in cache.pins.map { Row(cache: cache.name, pin: $0) } }
        + file.pins.map { Row(cache: nil, pin: $0) }
    }
  }

  /// Whether there is no pin to show.
  public var isEmpty: Bool { rows.isEmpty }

  /// Appends a table for people.
  public func appendTable(into buffer: inout TextBuffer) {
    var table = TextTable([.init(title: "CACHE"), .init(title: "URL"), .init(title: "FROM")])
    for row in rows {
      table.append([
        Array(HostileText.shown(row.cache ?? "all").utf8),
        // Pinned URLs are copied out of caches, so they are no safer than entries.
        HostileText.shown(secrets.url(row.pin.url, for: .people)).bytes,
        Array(HostileText.shown("\(row.pin.place.path):\(row.pin.place.line)").utf8),
      ])
    }
    // Headings over nothing look like a table that was cut off.
    if !rows.isEmpty { table.append(to: &buffer) }
  }

  /// Appends one JSON object.
  ///
  /// - Parameters:
  ///   - count: The number of URLs that were pinned or unpinned.
  ///   - verb: The command, which names the schema.
  public func appendJSON(changed count: Int, by verb: String, into buffer: inout TextBuffer) {
    buffer.writeJSON(schema: verb) {
      $0.member("changed", count)
      $0.array("pins", .lines, objects: rows) { json, row in
        json.member("cache", row.cache)
        json.member("url", url: row.pin.url, secrets)
        json.member("path", row.pin.place.path)
        json.member("line", row.pin.place.line)
      }
    }
  }

  /// Returns a number of URLs in words.
  public static func urls(_ count: Int) -> String { QuantityWords.counted(count, "URL", "URLs") }

  /// Returns the words for the cache in which URLs are pinned.
  public static func cache(_ name: String?) -> String {
    name.map { "'\(HostileText.shown($0))'" } ?? "all caches"
  }
}
