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
