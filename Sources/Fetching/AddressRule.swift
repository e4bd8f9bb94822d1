/// Which hosts the requests for a URL may go to.
///
/// What a cache holds comes from outside: a name in it may lead to this machine or to a private network, and
/// so may a redirect. Only a URL that says so itself may.
public struct AddressRule: Hashable, Sendable {
  private let ownHost: [UInt8]

  /// Creates the rule of a URL.
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
    if Self.isPrivateByName(host) { return Self.normalized(host) == ownHost }
    return !addresses.contains(where: \.isPrivate)
  }

  /// Whether a host says itself that it is of this machine or of a private network: `localhost` and what ends
  /// with it (RFC 6761 §6.3), or an address.
  static func isPrivateByName(_ host: String) -> Bool {
    let name = normalized(host)
    if name.elementsEqual("localhost".utf8) { return true }
    if name.suffix(10).elementsEqual(".localhost".utf8) { return true }
    return IPAddress(host)?.isPrivate ?? false
  }

  /// A host in small letters and without the dot at its end.
  private static func normalized(_ host: String) -> [UInt8] {
    var name = host.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    if name.last == UInt8(ascii: ".") { name.removeLast() }
    return name
  }
}
