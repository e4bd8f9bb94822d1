public import Bytes
public import ResponseStorage

/// A host that a selection names, and no entry of a store has.
public struct AbsentHost: Hashable, Sendable {
  /// The host; with a dot before it, also its subdomains.
  public var name: ByteString
  /// A similar host in the store, or the domain of some, with a dot before it.
  public var similar: String?
}

extension Selection {
  /// Returns the hosts that the selection names and no entry of a store has.
  ///
  /// - Complexity: O(*n*), where *n* is the number of entries; reads nothing if the selection names no host, or many.
  public func absentHosts(in source: any ResponseSource) throws -> [AbsentHost] {
    // A long list comes from a program, not from a typing error.
    guard 1...20 ~= criteria.hosts.count else { return [] }
    var known: Set<ByteString> = []
    try source.scan(.url) { response in
      if known.count < 100_000, let host = response.url.flatMap({ CanonicalURL.host(of: $0) }) {
        known.insert(ByteString(copying: host))
      }
      return .next
    }
    let names = known.sorted().compactMap(\.string)
    return criteria.hosts.filter { host in !known.contains(where: host.covers) }.map { host in
      let name = host.string ?? ""
      let domain = name.utf8.first == UInt8(ascii: ".") ? name : ".\(name)"
      let hasSubdomains = names.contains {
        $0.utf8.count > domain.utf8.count
          && $0.utf8.reversed().starts(with: domain.utf8.reversed())
      }
      return AbsentHost(
        name: host, similar: hasSubdomains ? domain : Spelling.nearest(to: name, among: names))
    }
  }
}
