import Administration
import Bytes
import Files
import ResponseStorage

/// Finds entries whose URLs differ only by parameters that identify a visitor or a campaign.
struct TrackingDuplicates: Sendable {
  private struct Group: Sendable {
    let id: StoredResponse.ID
    let url: ByteString
    var entries: Int64 = 1
    var bytes: ByteCount
    var largest: ByteCount
  }

  /// The entries with such parameters, by the beginning of the digest of the URL without them.
  private var groups: [[UInt8]: Group] = [:]
  /// The entries without such parameters, by the same.
  private var plain: Set<UInt64> = []

  /// The most URLs that are compared, because each takes memory.
  private static let most = 4 << 20

  /// Adds an entry.
  mutating func insert(_ url: ByteString, id: StoredResponse.ID, size: ByteCount) {
    guard groups.count + plain.count < Self.most else { return }
    guard let short = Self.withoutTracking(url) else {
      plain.insert(Self.number(Self.digest(url.bytes)))
      return
    }
    let digest = Self.digest(short)
    if var group = groups[digest] {
      group.entries += 1
      group.bytes += size
      group.largest = max(group.largest, size)
      groups[digest] = group
    } else {
      groups[digest] = Group(id: id, url: url, bytes: size, largest: size)
    }
  }

  /// The findings, in the order of the first entries of the groups.
  var findings: [AuditFinding] {
    var result: [AuditFinding] = []
    for (digest, group) in groups {
      let hasPlain = plain.contains(Self.number(digest))
      guard group.entries > 1 || hasPlain else { continue }
      // One copy is not wasted.
      let wasted = hasPlain ? group.bytes : group.bytes - group.largest
      let count = group.entries + (hasPlain ? 1 : 0)
      var finding = AuditFinding(
        .duplicates, .url, detail: ByteString("\(count) entries"), bytes: wasted)
      (finding.id, finding.url) = (group.id, group.url)
      finding.host = CanonicalURL.host(of: group.url)
      finding.count = count
      result.append(finding)
    }
    return result.sorted { one, other in
      guard let first = one.id, let second = other.id else { return false }
      return first < second
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

  private static func digest(_ url: [UInt8]) -> [UInt8] {
    var digest = Digest()
    digest.update(url[...])
    return Array(digest.bytes[..<16])
  }

  private static func number(_ digest: [UInt8]) -> UInt64 {
    digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
