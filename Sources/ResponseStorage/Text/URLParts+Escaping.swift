import Bytes

extension URLParts {
  /// The URL with the bytes percent-escaped that may not be in a URL where they are.
  var escaped: [UInt8] {
    let authority = authority?.bytes ?? bytes[pathStart..<pathStart]
    return bytes[..<authority.startIndex]
      // The brackets of an IPv6 address are kept.
      + authority.percentEscaped { $0.mayBeInURL } + Self.escaped(afterAuthority)
  }

  /// Text with the bytes percent-escaped that may not be in a URL outside of an authority.
  static func escaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
    text.percentEscaped { $0.mayBeInURL && !$0.isBracket }
  }
}
