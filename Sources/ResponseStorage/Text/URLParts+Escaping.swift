import Bytes

extension URLParts {
  /// The URL with percent-escapes for bytes that are not allowed where they are.
  var escaped: [UInt8] {
    let authority = authority?.bytes ?? bytes[pathStart..<pathStart]
    return bytes[..<authority.startIndex]
      // In the authority, keep the brackets of an IPv6 address.
      + authority.percentEscaped { $0.mayBeInURL } + Self.escaped(afterAuthority)
  }

  /// Returns text with percent-escapes for bytes that are not allowed outside of an authority.
  static func escaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
    // CFNetwork escapes `[`, `]` and `|` in keys, although it keeps them in the URLs next to them.
    text.percentEscaped { $0.mayBeInURL && !$0.isBracket }
  }
}
