/// An IP address that can be classified as public or private.
public struct IPAddress: Hashable, Sendable {
  /// The 4 or 16 bytes of the address.
  public let bytes: [UInt8]

  /// Creates an address from its form in a URL (RFC 3986 §3.2.2), without brackets; a zone after `%` is ignored.
  ///
  /// - Returns: `nil` for anything else, including forms that only some programs accept, such as `127.1`.
  public init?(_ text: some StringProtocol) {
    let address = text.utf8.prefix { $0 != UInt8(ascii: "%") }
    guard let bytes = Self.version4(Array(address)) ?? Self.version6(Array(address)) else {
      return nil
    }
    self.bytes = bytes
  }

  private init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Whether the address belongs to no host of the public internet: private, local, shared and reserved addresses
  /// (RFC 6890), and multicast. The ranges for documentation, which no host uses, are not included.
  public var isPrivate: Bool {
    if bytes.count == 4 { return Self.isPrivate(version4: bytes) }
    if let inner = embedded { return inner.isPrivate }
    let first = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
    return switch first {
    // This includes the unspecified and the loopback address.
    case 0x0000: true
    case 0x0100: bytes[2..<8].allSatisfy { $0 == 0 }
    // A gateway of the local network may translate these to any IPv4 address (RFC 8215), in a form that it chooses.
    case 0x0064: bytes[2..<6].elementsEqual([0xFF, 0x9B, 0x00, 0x01])
    // 2001::/23, for protocols (RFC 2928); Teredo, the first of them, leads to IPv4 hosts behind a relay (RFC 4380).
    case 0x2001: bytes[2] < 0x02
    case 0xFC00...0xFDFF, 0xFE80...0xFEFF, 0xFF00...0xFFFF: true
    default: false
    }
  }

  /// The IPv4 address that this IPv6 address represents (RFC 4291 §2.5.5, RFC 6052 §2.1, RFC 3056 §2). Without this
  /// check, private IPv4 addresses could be reached through an IPv6 form.
  private var embedded: IPAddress? {
    if bytes[..<10].allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF {
      return IPAddress(Array(bytes[12...]))
    }
    if bytes[..<12].elementsEqual([0x00, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) {
      return IPAddress(Array(bytes[12...]))
    }
    return bytes[..<2].elementsEqual([0x20, 0x02]) ? IPAddress(Array(bytes[2..<6])) : nil
  }

  private static func isPrivate(version4 bytes: [UInt8]) -> Bool {
    switch (bytes[0], bytes[1]) {
    // In this order: this network, private use, loopback, shared address space of providers, and
    // link-local, where cloud machines offer their credentials at 169.254.169.254; then private
    // use, benchmarks, and multicast with what is reserved.
    case (0, _), (10, _), (127, _), (100, 64...127), (169, 254), (172, 16...31), (192, 168),
      (198, 18...19), (224...255, _):
      true
    // 192.0.0.0/24 is for protocols. 192.0.2.0/24 is for documentation.
    case (192, 0): bytes[2] == 0
    default: false
    }
  }

  private static func version4(_ text: [UInt8]) -> [UInt8]? {
    let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var bytes: [UInt8] = []
    for part in parts {
      // Some programs read a number with a leading zero as octal.
      guard (1...3).contains(part.count), part.count == 1 || part.first != UInt8(ascii: "0"),
        part.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
        let byte = UInt8(String(decoding: part, as: UTF8.self))
      else { return nil }
      bytes.append(byte)
    }
    return bytes
  }

  private static func version6(_ text: [UInt8]) -> [UInt8]? {
    let colon = UInt8(ascii: ":")
    guard
      let gap = text.indices.dropLast().first(where: { text[$0] == colon && text[$0 + 1] == colon })
    else {
      return groups(text[...]).flatMap { $0.count == 16 ? $0 : nil }
    }
    guard let front = gap == 0 ? [] : groups(text[..<gap], endsAddress: false),
      let back = gap + 2 == text.count ? [] : groups(text[(gap + 2)...]),
      // `::` stands for at least one group of zeros (RFC 4291 §2.2).
      front.count + back.count <= 14
    else { return nil }
    return front + [UInt8](repeating: 0, count: 16 - front.count - back.count) + back
  }

  /// Parses groups of hexadecimal digits. The last group of an address may be an IPv4 address.
  private static func groups(_ text: ArraySlice<UInt8>, endsAddress: Bool = true) -> [UInt8]? {
    let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    // Bounds the work for a long text, before any group is read.
    guard parts.count <= 8 else { return nil }
    var bytes: [UInt8] = []
    for (index, part) in parts.enumerated() {
      if endsAddress, index == parts.count - 1, let inner = version4(Array(part)) {
        bytes += inner
      } else {
        // `UInt16.init` accepts a sign.
        guard (1...4).contains(part.count), part.first != UInt8(ascii: "+"),
          let group = UInt16(String(decoding: part, as: UTF8.self), radix: 16)
        else { return nil }
        bytes += [UInt8(group >> 8), UInt8(group & 0xFF)]
      }
    }
    return bytes
  }
}

/// The rule for which hosts the requests for a URL may go to.
///
/// URLs in a cache are untrusted: a name, or a redirect, may lead to this machine or a private network. Only a URL
/// whose own host is private may do so.
public struct AddressRule: Hashable, Sendable {
  private let ownHost: [UInt8]

  /// Creates the rule for a URL.
  ///
  /// - Parameter host: The host of the URL, without brackets.
  public init(host: String) {
    ownHost = Self.normalized(host)
  }

  /// Whether requests may go to a host.
  ///
  /// - Parameters:
  ///   - host: The host of the URL or of a redirect, without brackets.
  ///   - addresses: All addresses of the host.
  public func allows(_ host: String, at addresses: [IPAddress]) -> Bool {
    // A user may have entries of a server on this machine, and asking that one is what they want. A
    // redirect from elsewhere to it is what an attacker wants.
    if Self.isPrivateByName(host) { return Self.normalized(host) == ownHost }
    // All addresses must be public, as it is not known which of them the connection will use. A
    // name with one of each is a way of DNS rebinding.
    return !addresses.contains(where: \.isPrivate)
  }

  /// Whether the name of a host shows that it is private: `localhost` and names below it (RFC 6761 §6.3), or a
  /// private address.
  static func isPrivateByName(_ host: String) -> Bool {
    let name = normalized(host)
    if name.elementsEqual("localhost".utf8) { return true }
    // Resolvers may answer these names with a loopback address without asking anyone.
    if name.suffix(10).elementsEqual(".localhost".utf8) { return true }
    return IPAddress(host)?.isPrivate ?? false
  }

  /// Returns a host in lowercase, without a trailing dot.
  private static func normalized(_ host: String) -> [UInt8] {
    var name = host.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    // `localhost.` is the same host (RFC 1034 §3.1), and would not be found by its name otherwise.
    if name.last == UInt8(ascii: ".") { name.removeLast() }
    return name
  }
}
