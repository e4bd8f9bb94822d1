/// An authority in its parts: `user:password@host:port` (RFC 3986 §3.2).
///
/// The parts are slices of the text that the authority is in. Nothing is unescaped or checked.
public struct URLAuthority: Sendable {
  /// The whole authority.
  public let bytes: ArraySlice<UInt8>

  /// Takes an authority apart; every text is one.
  @inlinable
  public init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  /// The bytes before the last `@` (§3.2.1).
  ///
  /// An `@` should be escaped in a password, but where it is not, no part of the password may be taken for the host.
  @inlinable
  public var userInfo: ArraySlice<UInt8>? {
    bytes.lastIndex(of: UInt8(ascii: "@")).map { bytes[..<$0] }
  }

  /// The host with its port, and the `:` between them.
  @inlinable
  public var hostAndPort: ArraySlice<UInt8> {
    userInfo.map { bytes[($0.endIndex + 1)...] } ?? bytes
  }

  /// The host, with the brackets of an IPv6 address (§3.2.2).
  @inlinable
  public var host: ArraySlice<UInt8> {
    let both = hostAndPort
    return both[..<(Self.portColon(in: both) ?? both.endIndex)]
  }

  /// The bytes behind the `:` that ends the host, which may be none (§3.2.3).
  @inlinable
  public var port: ArraySlice<UInt8>? {
    let both = hostAndPort
    return Self.portColon(in: both).map { both[($0 + 1)...] }
  }

  /// Where the last `:` is; those in the brackets of an IPv6 address belong to it.
  @inlinable
  static func portColon(in hostAndPort: ArraySlice<UInt8>) -> Int? {
    hostAndPort.lastIndex { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "]") }
      .flatMap { hostAndPort[$0] == UInt8(ascii: ":") ? $0 : nil }
  }
}
