/// A URL or relative reference, split into its parts (RFC 3986 §3, §4.1).
///
/// Every text has parts, by the regular expression in appendix B of the RFC, so parsing never fails. Nothing is
/// unescaped, and only the scheme is validated. The parts are slices of `bytes`, with its indices.
public struct URLParts: Sendable {
  /// The whole text.
  public let bytes: [UInt8]

  /// The index of the `:` after the scheme, if there is a scheme.
  @usableFromInline let colon: Int?

  /// The index at which the authority begins, if there is one.
  @usableFromInline let authorityStart: Int?

  /// The index at which the path begins: after the authority, after the scheme, or 0.
  public let pathStart: Int

  /// Finds the scheme and the authority of a text.
  ///
  /// - Parameter allowsAnyScheme: Whether the first `:` also ends a scheme that the RFC does not allow, if `//` follows
  ///   and there is no other authority. Lenient programs read `1x://user:password@host` as a URL, so use this for text
  ///   from which a password must be removed, or that a person reads.
  /// - Complexity: O(*n*), where *n* is the number of bytes before the path. Allocates no memory.
  public init(_ text: [UInt8], allowsAnyScheme: Bool = false) {
    let span = text.span
    var colon = Self.endOfScheme(of: span)
    var start = colon.map { $0 + 1 } ?? 0
    // An authority that the RFC recognizes takes precedence.
    if allowsAnyScheme, !Self.hasAuthority(span, at: start),
      let other = text.firstIndex(of: UInt8(ascii: ":")), Self.hasAuthority(span, at: other + 1)
    {
      (colon, start) = (other, other + 1)
    }
    (bytes, self.colon) = (text, colon)
    guard Self.hasAuthority(span, at: start) else {
      (authorityStart, pathStart) = (nil, start)
      return
    }
    var end = start + 2
    while end < span.count, !Self.endsAuthority(span[end]) { end += 1 }
    (authorityStart, pathStart) = (start + 2, end)
  }

  /// The bytes before the first `:`, if they are a valid scheme (§3.1).
  @inlinable
  public var scheme: ArraySlice<UInt8>? { colon.map { bytes[..<$0] } }

  /// The bytes between `//` and the path (§3.2).
  @inlinable
  public var authority: URLAuthority? {
    authorityStart.map { URLAuthority(bytes[$0..<pathStart]) }
  }

  /// The path, the query and the fragment.
  @inlinable
  public var afterAuthority: ArraySlice<UInt8> { bytes[pathStart...] }

  /// The bytes after the authority, up to the first `?` or `#` (§3.3).
  @inlinable
  public var path: ArraySlice<UInt8> {
    afterAuthority.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
  }

  /// The bytes between the first `?` and the fragment (§3.4).
  @inlinable
  public var query: ArraySlice<UInt8>? {
    let end = path.endIndex
    guard end < bytes.count, bytes[end] == UInt8(ascii: "?") else { return nil }
    return bytes[(end + 1)...].prefix { $0 != UInt8(ascii: "#") }
  }

  /// The bytes after the first `#` (§3.5).
  @inlinable
  public var fragment: ArraySlice<UInt8>? {
    let end = withoutFragment.endIndex
    return end < bytes.count ? bytes[(end + 1)...] : nil
  }

  /// The text without the fragment and its `#`.
  @inlinable
  public var withoutFragment: ArraySlice<UInt8> {
    bytes[..<(afterAuthority.firstIndex(of: UInt8(ascii: "#")) ?? bytes.count)]
  }

  /// The text without the user info and its `@`. This is the only code that removes credentials from a URL.
  ///
  /// - Complexity: O(*n*), where *n* is the number of bytes.
  public var withoutUserInfo: [UInt8] {
    // Cut out as bytes, and not by putting the parts together again, so that the rest of an invalid
    // URL stays as it is.
    guard let userInfo = authority?.userInfo else { return bytes }
    return Array(bytes[..<userInfo.startIndex] + bytes[(userInfo.endIndex + 1)...])
  }

  /// The index of the `:` after the scheme, if the text has a scheme (§3.1).
  private static func endOfScheme(of text: Span<UInt8>) -> Int? {
    for index in text.indices {
      let byte = text[index]
      if byte.isASCIILetter { continue }
      switch byte {
      // A scheme has at least one letter (RFC 3986 §3.1).
      case UInt8(ascii: ":"): return index > 0 ? index : nil
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"),
        UInt8(ascii: "."):
        if index == 0 { return nil }
      default: return nil
      }
    }
    return nil
  }

  /// Whether `//` at this index begins an authority.
  private static func hasAuthority(_ text: Span<UInt8>, at place: Int) -> Bool {
    place + 1 < text.count && text[place] == UInt8(ascii: "/")
      && text[place + 1] == UInt8(ascii: "/")
  }

  private static func endsAuthority(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
  }
}

extension UInt8 {
  /// Whether the byte may occur in a URL: unreserved and reserved characters, and `%` (RFC 3986 §2).
  @inlinable
  public var mayBeInURL: Bool {
    switch self {
    // The printable characters that RFC 3986 leaves out.
    case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "{"),
      UInt8(ascii: "}"), UInt8(ascii: "|"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
      UInt8(ascii: "`"):
      false
    default: 0x21...0x7E ~= self
    }
  }

  /// Whether the byte is a bracket. In a URL, brackets only enclose an IPv6 address (RFC 3986 §3.2.2).
  @inlinable
  public var isBracket: Bool { self == UInt8(ascii: "[") || self == UInt8(ascii: "]") }
}

/// A parameter in the query of a URL, as HTML forms write it: `name=value` (URL Standard §5.1).
public struct URLParameter: Sendable {
  /// The bytes before the first `=`, not unescaped.
  public let name: ArraySlice<UInt8>

  /// The bytes after the first `=`, not unescaped; `nil` if there is no `=`.
  public let value: ArraySlice<UInt8>?

  /// Splits a parameter at its first `=`.
  init(_ text: ArraySlice<UInt8>) {
    // Only the first sign separates: values in Base64 end in others.
    let equals = text.firstIndex(of: UInt8(ascii: "="))
    name = text[..<(equals ?? text.endIndex)]
    value = equals.map { text[($0 + 1)...] }
  }
}

extension URLParts {
  /// The parameters of the query, in order. Empty ones, as in `a&&b`, are left out.
  public var parameters: [URLParameter] {
    (query ?? []).split(separator: UInt8(ascii: "&")).map { URLParameter($0) }
  }
}

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
