public import Bytes
import PropertyLists

/// Changes to responses before they are inserted into a store.
public struct ResponseRewriting: Hashable, Sendable {
  /// A replacement of a host by another.
  public struct HostMapping: Hashable, Sendable {
    /// The old host, with a port to replace only that port.
    public var old: ByteString
    /// The new host, with a port if that changes, too.
    public var new: ByteString

    /// Creates a mapping.
    public init(from old: ByteString, to new: ByteString) {
      self.old = old
      self.new = new
    }
  }

  /// A time that is attached to each response.
  public struct Stamp: Hashable, Sendable {
    /// The key in the user info.
    public var key: ByteString
    /// The time for that key.
    public var time: Timestamp

    /// Creates a stamp.
    public init(key: ByteString, time: Timestamp) {
      self.key = key
      self.time = time
    }
  }

  /// The hosts to replace; the first matching one is used.
  public var hosts: [HostMapping] = []
  /// The time to attach to each response; `nil` for none.
  public var stamp: Stamp?

  /// Creates a rewriting that changes nothing.
  public init() {}

  /// Returns the changed response; one that cannot be changed has a ``RawResponse/finding``.
  ///
  /// The host is replaced in the key, and in the URLs of request, response and page, but not in header fields.
  public func applied(to raw: RawResponse) -> RawResponse {
    var raw = raw
    // Without a mapping, the property lists are not even decoded, so they stay the same byte for
    // byte.
    if !hosts.isEmpty { mapHosts(of: &raw) }
    if let stamp { attach(stamp, to: &raw) }
    if !hosts.isEmpty || stamp != nil { raw.forgetWebKitRecord() }
    return raw
  }

  // MARK: - Hosts

  private func mapHosts(of raw: inout RawResponse) {
    if let key = raw.text("request_key"), case let new = mapped(key), new != key {
      raw.rekey(new)
    }
    for index in raw.parts.indices
    where raw.parts[index].name == .responseObject || raw.parts[index].name == .requestObject {
      guard let content = raw.parts[index].content else { continue }
      // Reported as a finding: a key with the new host and a URL with the old one would be two
      // truths about one entry.
      guard let bytes = content.bytes else {
        raw.finding = "its property lists are too large to change the host"
        continue
      }
      guard let list = try? BinaryPropertyList(bytes.span),
        let old = try? list.value(of: list.root)
      else {
        raw.finding = "its property lists cannot be decoded, so its host cannot be changed"
        return
      }
      let new = mapped(old)
      if new != old { raw.parts[index].content = Body(PropertyListWriter().bytes(of: new)) }
    }
  }

  /// Returns a property list with hosts replaced in its URLs.
  private func mapped(_ value: PropertyListValue) -> PropertyListValue {
    switch value {
    case .array(let values): return .array(values.map { mapped($0) })
    case .dictionary(let entries):
      return .dictionary(
        entries.map { entry in
          // CFNetwork archives every URL under this key.
          guard case .string(let text) = entry.value, entry.key.elementsEqual("_CFURLString".utf8)
          else { return .init(key: entry.key, value: mapped(entry.value)) }
          return .init(key: entry.key, value: .string(mapped(ByteString(text)).bytes))
        })
    default: return value
    }
  }

  /// Returns a URL with its host replaced, if there is a mapping for it.
  private func mapped(_ url: ByteString) -> ByteString {
    guard let authority = URLParts(url.bytes).authority else { return url }
    let whole = ByteString(Array(authority.hostAndPort))
    let host = ByteString(Array(authority.host))
    for mapping in hosts {
      let replaced: ArraySlice<UInt8>
      if whole.equalsIgnoringASCIICase(mapping.old) {
        replaced = authority.hostAndPort
      } else if host.equalsIgnoringASCIICase(mapping.old) {
        // The port is kept, unless the new host has one.
        let hasPort = URLAuthority(mapping.new.bytes[...]).port != nil
        replaced = hasPort ? authority.hostAndPort : authority.host
      } else {
        continue
      }
      var bytes = url.bytes
      // Only the host is replaced, and every other byte is kept. Taking a URL apart and putting it
      // together again could change one that was never valid.
      bytes.replaceSubrange(replaced.indices, with: mapping.new.bytes)
      return ByteString(bytes)
    }
    return url
  }

  // MARK: - Stamp

  private func attach(_ stamp: Stamp, to raw: inout RawResponse) {
    guard let index = raw.parts.firstIndex(where: { $0.name == .userInfo }) else {
      raw.finding = "its user info is missing"
      return
    }
    var entries: [PropertyListValue.Entry] = []
    if let content = raw.parts[index].content {
      guard let bytes = content.bytes else {
        raw.finding = "its user info is too large to add to"
        return
      }
      guard let list = try? BinaryPropertyList(bytes.span),
        case .dictionary(let there)? = try? list.value(of: list.root)
      else {
        raw.finding = "its user info cannot be decoded, so nothing can be added"
        return
      }
      entries = there.filter { $0.key != stamp.key.bytes }
    }
    entries.append(.init(key: stamp.key.bytes, value: .date(stamp.time.secondsSince2001)))
    raw.parts[index].isText = false
    raw.parts[index].content = Body(PropertyListWriter().bytes(of: .dictionary(entries)))
  }
}

extension RawResponse {
  /// Sets another key, and its hash.
  mutating func rekey(_ key: ByteString) {
    for index in columns.indices {
      switch columns[index].name {
      case "request_key": columns[index].value = .text(key)
      // The hash belongs to the key. `check` reports one that does not match.
      case "hash_value": columns[index].value = .integer(CacheKeyHash(of: key).whenInserted)
      default: break
      }
    }
  }
}
