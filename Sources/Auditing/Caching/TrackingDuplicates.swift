import Administration
import Bytes
import Files
import ResponseStorage

/// Finds entries whose URLs differ only by parameters that identify a visitor or a campaign.
struct TrackingDuplicates {
  private var urls: EqualURLs

  /// - Parameter temporaryFolder: The folder for unnamed files, which many entries need.
  init(temporaryFolder: String) { urls = EqualURLs(temporaryFolder: temporaryFolder) }

  /// Adds an entry.
  mutating func insert(
    _ url: ByteString, id: StoredResponse.ID, size: ByteCount
  ) throws(FileError) {
    if let short = Self.withoutTracking(url) {
      try urls.insert(ByteString(short), of: url, id, size: size)
    } else {
      try urls.insert(url)
    }
  }

  /// Removes all entries, and calls `body` with the findings, in the order of the first entries.
  mutating func removeAll(_ body: (AuditFinding) throws -> Void) throws {
    try urls.removeAll { group in
      // One copy is not wasted.
      let wasted = group.hasShortURL ? group.bytes : group.bytes - group.largest
      let count = group.entries + (group.hasShortURL ? 1 : 0)
      var finding = AuditFinding(
        .duplicates, .url, detail: ByteString("\(count) entries"), bytes: wasted)
      (finding.id, finding.url) = (group.id, group.url)
      finding.host = CanonicalURL.host(of: group.url)
      finding.count = count
      try body(finding)
    }
  }

  /// Returns a URL without tracking parameters; `nil` if it has none.
  static func withoutTracking(_ url: ByteString) -> [UInt8]? {
    let parts = URLParts(url.bytes)
    guard let query = parts.query else { return nil }
    let all = query.split(separator: UInt8(ascii: "&"))
    let kept = all.filter { !isTracking($0.prefix { $0 != UInt8(ascii: "=") }) }
    guard kept.count < all.count else { return nil }
    var result = Array(url.bytes[..<parts.path.endIndex])
    if !kept.isEmpty { result += [UInt8(ascii: "?")] + kept.joined(separator: [UInt8(ascii: "&")]) }
    return result
  }

  private static func isTracking(_ name: ArraySlice<UInt8>) -> Bool {
    name.starts(with: "utm_".utf8) || names.contains(ByteString(name.map(\.asciiLowercased)))
  }

  private static let names: Set<ByteString> = [
    "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "fbclid", "msclkid", "yclid", "twclid",
    "ttclid",
    "li_fat_id", "igshid", "mc_cid", "mc_eid", "_ga", "_gl", "_hsenc", "_hsmi", "mkt_tok",
    "vero_id", "oly_anon_id", "oly_enc_id", "s_cid", "rb_clickid", "wickedid", "_openstat",
    // Numbers that defeat caches.
    "cachebuster", "cache_buster", "cachebust", "nocache", "_nocache", "rnd", "rand",
  ]
}
