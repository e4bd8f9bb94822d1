/// The authority of a URL, `user:password@host:port` (RFC 3986 §3.2), split into its parts.
///
/// The parts are slices of the original text. Nothing is unescaped or validated.
public struct URLAuthority: Sendable {
  /// The whole authority.
  public let bytes: ArraySlice<UInt8>

  /// Splits an authority. Any text is accepted.
  @inlinable
  public init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  /// The bytes before the last `@` (§3.2.1).
  ///
  /// An `@` in a password should be escaped. If it is not, no part of the password may be mistaken for the host.
  @inlinable
  public var userInfo: ArraySlice<UInt8>? {
    bytes.lastIndex(of: UInt8(ascii: "@")).map { bytes[..<$0] }
  }

  /// The host and the port, with the `:` between them.
  @inlinable
  public var hostAndPort: ArraySlice<UInt8> {
    userInfo.map { bytes[($0.endIndex + 1)...] } ?? bytes
  }

  /// The host, including the brackets of an IPv6 address (§3.2.2).
  @inlinable
  public var host: ArraySlice<UInt8> {
    let both = hostAndPort
    return both[..<(Self.portColon(in: both) ?? both.endIndex)]
  }

  /// The bytes after the `:` that ends the host (§3.2.3); may be empty.
  @inlinable
  public var port: ArraySlice<UInt8>? {
    let both = hostAndPort
    return Self.portColon(in: both).map { both[($0 + 1)...] }
  }

  /// The index of the `:` before the port. Colons in the brackets of an IPv6 address do not count.
  @inlinable
  static func portColon(in hostAndPort: ArraySlice<UInt8>) -> Int? {
    // The last of the two decides: a colon after the bracket begins a port, and one before it
    // belongs to the address.
    hostAndPort.lastIndex { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "]") }
      .flatMap { hostAndPort[$0] == UInt8(ascii: ":") ? $0 : nil }
  }
}
