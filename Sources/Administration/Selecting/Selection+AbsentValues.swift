import Bytes
import Matching
public import ResponseStorage

/// A host, a media type or a status that a selection names, and that no entry of a store has.
public struct AbsentValue: Hashable, Sendable {
  /// The properties that are compared with those of all entries.
  public enum Property: String, Hashable, Sendable {
    case host, mime, status
  }

  /// The property.
  public let property: Property
  /// The value; of hosts with a dot before it, also the subdomains.
  public let name: String
  /// A similar value in the store, or the domain of some hosts, with a dot before it.
  public let similar: String?
}

extension Selection {
  /// Returns the hosts, media types and statuses that the selection names and no entry of a store has.
  ///
  /// - Complexity: O(*n*), where *n* is the number of entries; reads nothing if the selection names none, or many.
  public func absentValues(in source: any ResponseSource) throws -> [AbsentValue] {
    let (hosts, types, statuses) = (criteria.hosts, criteria.mimeTypes, criteria.statuses)
    // A long list comes from a program, not from a typing error.
    guard 1...20 ~= hosts.count + types.count + statuses.count else { return [] }
    var projection: Projection = []
    if !hosts.isEmpty { projection.insert(.url) }
    if !types.isEmpty { projection.insert(.mimeType) }
    if !statuses.isEmpty { projection.insert(.status) }
    var knownHosts: Set<ByteString> = []
    var knownTypes: Set<ByteString> = []
    var knownStatuses: Set<Int64> = []
    try source.scan(projection) { response in
      if !hosts.isEmpty, knownHosts.count < 100_000,
        let host = response.url.flatMap({ CanonicalURL.comparedHost(of: $0) })
      {
        knownHosts.insert(ByteString(copying: host))
      }
      if !types.isEmpty, knownTypes.count < 10_000, let type = response.mimeType {
        knownTypes.insert(ByteString(copying: type.asciiLowercased))
      }
      if !statuses.isEmpty, knownStatuses.count < 10_000, let status = response.status {
        knownStatuses.insert(status)
      }
      return .next
    }
    let names = knownHosts.sorted().compactMap(\.string)
    let typeNames = knownTypes.sorted().compactMap(\.string)
    var absent: [AbsentValue] = []
    for host in hosts where !knownHosts.contains(where: { host.covers($0) }) {
      absent.append(Self.absence(of: host, among: names))
    }
    for type in types where !knownTypes.contains(where: { type.matches($0) }) {
      let name = type.pattern
      absent.append(
        AbsentValue(
          property: .mime, name: name, similar: Spelling.nearest(to: name, among: typeNames)))
    }
    for range in statuses where !knownStatuses.contains(where: { range.contains($0) }) {
      let (first, last) = (range.lowerBound, range.upperBound)
      absent.append(
        AbsentValue(
          property: .status, name: first == last ? "\(first)" : "\(first)-\(last)", similar: nil))
    }
    return absent
  }

  private static func absence(of host: HostPattern, among names: [String]) -> AbsentValue {
    let name = host.written.string ?? ""
    let domain = name.utf8.first == UInt8(ascii: ".") ? name : ".\(name)"
    let hasSubdomains = names.contains {
      $0.utf8.count > domain.utf8.count
        && $0.utf8.reversed().starts(with: domain.utf8.reversed())
    }
    return AbsentValue(
      property: .host, name: name,
      similar: hasSubdomains ? domain : Spelling.nearest(to: name, among: names))
  }
}
