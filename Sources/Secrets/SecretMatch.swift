public import Bytes
import Files

/// A secret that was found in a text.
public struct SecretMatch: Hashable, Sendable {
  /// The rule that it breaks.
  public var rule: SecretRule

  /// Where it begins in the text.
  public var offset: Int64

  /// The secret, up to ``mostBytes`` of it.
  public var value: ByteString

  /// The number of bytes at its beginning that name its kind and can be shown.
  public var shownPrefix = 0

  /// When it expires, in seconds since 1970; `nil` if that is unknown.
  public var expires: Int64?

  /// The name of the field or the parameter that contains it, if there is one.
  public var name: ByteString?

  /// The most bytes of a secret that are kept. All bytes that follow are ignored.
  public static let mostBytes = 4_096

  /// Creates a match.
  init(
    _ rule: SecretRule, at offset: Int, _ value: ArraySlice<UInt8>, shownPrefix: Int = 0,
    expires: Int64? = nil, name: ByteString? = nil
  ) {
    (self.rule, self.offset, self.expires, self.name) = (rule, Int64(offset), expires, name)
    self.value = ByteString(Array(value.prefix(Self.mostBytes)))
    self.shownPrefix = shownPrefix
  }

  /// The first bytes of the SHA-256 of the secret, as 12 hexadecimal digits: the same in each run and each cache.
  public var fingerprint: String {
    String(decoding: Base16.encode(Array(Self.fingerprintBytes(of: value.bytes))), as: UTF8.self)
  }

  /// The fingerprint as a number.
  public var fingerprintNumber: UInt64 { Self.fingerprintNumber(of: value.bytes) }

  /// Returns the fingerprint of a secret as a number.
  public static func fingerprintNumber(of value: [UInt8]) -> UInt64 {
    fingerprintBytes(of: value).reduce(0) { $0 << 8 | UInt64($1) }
  }

  private static func fingerprintBytes(of value: [UInt8]) -> ArraySlice<UInt8> {
    var digest = Digest()
    digest.update(value[...])
    return digest.bytes[..<6]
  }
}
