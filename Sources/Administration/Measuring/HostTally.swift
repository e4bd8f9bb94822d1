import Bytes
import Files
import ResponseStorage

/// Entries added up by host and folder, in bounded memory.
///
/// Hosts and folders that have no room are only counted, so the groups are the largest for certain only
/// where there are not very many.
struct HostTally {
  /// What is kept, and what of it is shown.
  private enum Limit {
    static let hosts = 16_384
    static let folders = 32_768
    static let nameBytes = 8 << 20
    /// The largest entries of a folder.
    static let entriesOfFolder = 24
    /// The largest entries of all folders.
    static let entries = 65_536
    static let shownHosts = 30
    static let shownFoldersOfHost = 10
    static let shownEntries = 500
  }

  /// A folder of the host at a place.
  private struct FolderKey: Hashable {
    let host: Int
    let path: ByteString
  }

  private struct FolderGroup {
    let host: Int
    var folder: CacheReport.Folder
    var largest = LargestEntries()
  }

  /// The folders of URLs with these beginnings, which are as long as tells a folder: most URLs then need no
  /// other look-up.
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
    guard let folder = place.folder else { return }
    folders[folder].folder.insert(sum, staleBytes: staleBytes)
    changeLargest(of: folder) { $0.insert(response.id, size: size, state, limit: $1) }
  }

  /// The places of the host and of the folder of a URL, as far as there is room for them.
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

  /// Counts the entries of another tally.
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

  /// Lets `body` put entries among the largest of a folder, up to a limit.
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
  /// Puts the largest hosts, folders and entries into a report.
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

  /// The size that an entry must exceed to be shown, in bytes; entries without a body are never shown.
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
  /// Where the first two segments are of the folder that the path of a URL is in, as `/a/b` of `/a/b/c/d?e`;
  /// empty if there is no folder, and `nil` for what is no URL with an authority.
  static func folder(of url: ByteString) -> Range<Int>? {
    let parts = URLParts(url.bytes)
    guard parts.scheme != nil, parts.authority != nil else { return nil }
    let (bytes, start) = (url.bytes.span, parts.pathStart)
    var (end, segments, place) = (start, 0, start)
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

  /// The highest bit of each byte of a word that ends a segment or the path: `/`, `?` or `#`.
  private static func marks(in word: UInt64) -> UInt64 {
    let (ones, lowest) = (0x0101_0101_0101_0101 as UInt64, 0x7F7F_7F7F_7F7F_7F7F as UInt64)
    func zeros(_ word: UInt64) -> UInt64 { ~(((word & lowest) &+ lowest) | word | lowest) }
    // `/` becomes `?` by one bit more, and nothing else does.
    let slashOrQuestion = (word | 0x10 &* ones) ^ UInt64(UInt8(ascii: "?")) &* ones
    return zeros(slashOrQuestion) | zeros(word ^ UInt64(UInt8(ascii: "#")) &* ones)
  }
}
