import Bytes
import Files
import ResponseStorage

/// Entries counted by host and folder, in bounded memory.
///
/// Hosts and folders over the memory limit are only counted, so the listed groups are certain to be the largest only if
/// there are not too many of them.
struct HostTally {
  /// The limits on what is kept, and on what is shown.
  private enum Limit {
    // Servers can make up any number of hosts and folders, so the number of names and their total
    // length are limited. The limits on what is shown keep a page below 600 kB.
    static let hosts = 16_384
    static let folders = 32_768
    static let nameBytes = 8 << 20
    /// The number of largest entries kept for each folder.
    static let entriesOfFolder = 24
    /// The number of largest entries kept for all folders.
    static let entries = 65_536
    static let shownHosts = 30
    static let shownFoldersOfHost = 10
    static let shownEntries = 500
  }

  /// A folder, by the index of its host.
  private struct FolderKey: Hashable {
    let host: Int
    let path: ByteString
  }

  private struct FolderGroup {
    let host: Int
    var folder: CacheReport.Folder
    var largest = LargestEntries()
  }

  /// The folders of URLs with these prefixes, each long enough to identify a folder: most URLs then need no other
  /// look-up.
  private var recent = RecentBeginnings()
  private var hostPlaces: [ByteString?: Int] = [:]
  private var folderPlaces: [FolderKey: Int] = [:]
  private var hosts: [CacheReport.Host] = []
  private var folders: [FolderGroup] = []
  private var others = CacheReport.Sum()
  private var nameBytesLeft = Limit.nameBytes
  private var entriesLeft = Limit.entries

  /// Counts an entry.
  mutating func insert(
    _ response: borrowing StoredResponse, size: ByteCount, _ state: CacheReport.State
  ) {
    let (sum, staleBytes) = (CacheReport.Sum(entries: 1, bytes: size), state.isStale ? size : 0)
    guard let place = place(of: response.url) else { return others.insert(size) }
    hosts[place.host].insert(sum, staleBytes: staleBytes)
    // The host counts all the same, so that the sums of hosts stay exact when there are too many
    // folders.
    guard let folder = place.folder else { return }
    folders[folder].folder.insert(sum, staleBytes: staleBytes)
    changeLargest(of: folder) { $0.insert(response.id, size: size, state, limit: $1) }
  }

  /// Returns the indices of the host and the folder of a URL, if there is memory for them.
  private mutating func place(of url: ByteString?) -> (host: Int, folder: Int?)? {
    let path = url.flatMap { URLParts.folder(of: $0) } ?? 0..<0
    if let url, let folder = recent.place(of: url.bytes.span.extracting(first: path.upperBound)) {
      return (folders[folder].host, folder)
    }
    guard let host = hostPlace(of: url.flatMap { CanonicalURL.host(of: $0) }) else { return nil }
    let key = FolderKey(host: host, path: ByteString(Array(url?.bytes[path] ?? [])))
    let folder = folderPlace(of: key)
    if let url, let folder {
      recent.insert(url.bytes.span.extracting(first: path.upperBound), at: folder)
    }
    return (host, folder)
  }

  /// Adds another tally.
  mutating func insert(_ other: HostTally) {
    others = others.adding(other.others)
    let places = other.hosts.map { host in
      let place = hostPlace(of: host.name)
      if let place {
        hosts[place].insert(host.sum, staleBytes: host.staleBytes)
      } else {
        others = others.adding(host.sum)
      }
      return place
    }
    for group in other.folders {
      guard let host = places[group.host],
        let folder = folderPlace(of: FolderKey(host: host, path: group.folder.path))
      else { continue }
      folders[folder].folder.insert(group.folder.sum, staleBytes: group.folder.staleBytes)
      changeLargest(of: folder) { $0.insert(group.largest, limit: $1) }
    }
  }

  /// Calls `body` to add entries to the largest of a folder, within the limits.
  private mutating func changeLargest(
    of folder: Int, _ body: (inout LargestEntries, _ limit: Int) -> Void
  ) {
    let kept = folders[folder].largest.candidates.count
    let limit = min(Limit.entriesOfFolder, kept + entriesLeft)
    guard limit > 0 else { return }
    body(&folders[folder].largest, limit)
    entriesLeft -= folders[folder].largest.candidates.count - kept
  }

  private mutating func hostPlace(of name: ByteString?) -> Int? {
    if let place = hostPlaces[name] { return place }
    guard hosts.count < Limit.hosts, takeRoom(for: name?.bytes.count ?? 0) else { return nil }
    hostPlaces[name] = hosts.count
    hosts.append(CacheReport.Host(name: name))
    return hosts.count - 1
  }

  private mutating func folderPlace(of key: FolderKey) -> Int? {
    if let place = folderPlaces[key] { return place }
    guard folders.count < Limit.folders, takeRoom(for: key.path.bytes.count) else { return nil }
    folderPlaces[key] = folders.count
    folders.append(FolderGroup(host: key.host, folder: .init(path: key.path)))
    return folders.count - 1
  }

  private mutating func takeRoom(for bytes: Int) -> Bool {
    guard bytes <= nameBytesLeft else { return false }
    nameBytesLeft -= bytes
    return true
  }
}

extension HostTally {
  /// Writes the largest hosts, folders and entries to a report.
  func write(to report: inout CacheReport) {
    let order = hosts.indices.sorted {
      isBefore(hosts[$0].sum, hosts[$1].sum, (hosts[$0].name ?? "") < (hosts[$1].name ?? ""))
    }
    let shown = order.prefix(Limit.shownHosts)
    var groups: [Int: [Int]] = [:]
    for (place, group) in folders.enumerated() { groups[group.host, default: []].append(place) }
    let foldersOfHosts = shown.map { host in
      Array(
        (groups[host] ?? []).sorted {
          isBefore(
            folders[$0].folder.sum, folders[$1].folder.sum,
            folders[$0].folder.path < folders[$1].folder.path)
        }.prefix(Limit.shownFoldersOfHost))
    }
    let limit = largestHidden(in: foldersOfHosts.joined())
    report.hosts = zip(shown, foldersOfHosts).map { place, places in
      var host = hosts[place]
      host.folders = places.map { place in
        var folder = folders[place].folder
        folder.entries = folders[place].largest.candidates.filter { $0.size > limit }
          .map { CacheReport.Entry($0) }
        return folder
      }
      return host
    }
    report.otherHosts = rest(of: order.dropFirst(Limit.shownHosts))
  }

  // One size for all folders, so that the largest entries are shown wherever they are.
  /// Returns the size that an entry must exceed to be shown, in bytes; entries without a body are never shown.
  private func largestHidden(in places: some Sequence<Int>) -> ByteCount {
    let sizes = places.flatMap { folders[$0].largest.candidates.map(\.size) }.sorted(by: >)
    return sizes.count > Limit.shownEntries ? max(0, sizes[Limit.shownEntries]) : 0
  }

  private func isBefore(
    _ first: CacheReport.Sum, _ second: CacheReport.Sum, _ isEarlier: Bool
  ) -> Bool {
    if first.bytes != second.bytes { return first.bytes > second.bytes }
    if first.entries != second.entries { return first.entries > second.entries }
    return isEarlier
  }

  private func rest(of places: ArraySlice<Int>) -> UsageReport.Rest? {
    guard !places.isEmpty || others.entries > 0 else { return nil }
    let sum = places.reduce(others) { $0.adding(hosts[$1].sum) }
    // Entries over the limit have hosts of their own or not, which nobody has counted.
    let count = others.entries == 0 ? Int64(places.count) : nil
    return UsageReport.Rest(groups: count, entries: sum.entries, bytes: sum.bytes)
  }
}

extension CacheReport.Host {
  /// Counts entries.
  fileprivate mutating func insert(_ entries: CacheReport.Sum, staleBytes other: ByteCount) {
    sum = sum.adding(entries)
    staleBytes += other
  }
}

extension CacheReport.Folder {
  /// Counts entries.
  fileprivate mutating func insert(_ entries: CacheReport.Sum, staleBytes other: ByteCount) {
    sum = sum.adding(entries)
    staleBytes += other
  }
}

extension URLParts {
  /// Returns the range of the first two path segments of the folder of a URL, such as `/a/b` in `/a/b/c/d?e`; empty if
  /// there is no folder, and `nil` if it is not a URL with an authority.
  static func folder(of url: ByteString) -> Range<Int>? {
    let parts = URLParts(url.bytes)
    guard parts.scheme != nil, parts.authority != nil else { return nil }
    let (bytes, start) = (url.bytes.span, parts.pathStart)
    var (end, segments, place) = (start, 0, start)
    // Eight bytes at a time: this runs for every entry of a store.
    while place < bytes.count {
      var marks = Self.marks(in: bytes.word(paddedAt: place))
      while marks != 0 {
        let mark = place &+ marks.trailingZeroBitCount / 8
        guard bytes[mark] == UInt8(ascii: "/") else { return start..<end }
        end = mark
        segments &+= 1
        if segments == 3 { return start..<end }
        marks &= marks &- 1
      }
      place &+= 8
    }
    return start..<end
  }

  /// Returns a word with the highest bit set in each byte that ends a segment or the path: `/`, `?` or `#`.
  private static func marks(in word: UInt64) -> UInt64 {
    let (ones, lowest) = (0x0101_0101_0101_0101 as UInt64, 0x7F7F_7F7F_7F7F_7F7F as UInt64)
    func zeros(_ word: UInt64) -> UInt64 { ~(((word & lowest) &+ lowest) | word | lowest) }
    // `/` and `?` differ only in bit 0x10, so setting it matches both with one comparison.
    let slashOrQuestion = (word | 0x10 &* ones) ^ UInt64(UInt8(ascii: "?")) &* ones
    return zeros(slashOrQuestion) | zeros(word ^ UInt64(UInt8(ascii: "#")) &* ones)
  }
}
