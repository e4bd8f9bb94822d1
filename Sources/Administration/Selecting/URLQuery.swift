public import Bytes
import ResponseStorage

/// The query parameters of a URL in form encoding: `a=1&b=2` (URL Standard §5.1).
public enum URLQuery {
  /// Returns the values of all parameters with a name, in order; a parameter without `=` has an empty value.
  ///
  /// Names and values are compared and returned percent-decoded, with `+` for a space.
  ///
  /// - Complexity: O(*n*), where *n* is the number of bytes.
  public static func values(of name: ByteString, in url: ByteString) -> [ByteString] {
    URLParts(url.bytes).parameters.compactMap { parameter in
      guard URLSecrets.percentDecoded(parameter.name) == name.bytes else { return nil }
      return ByteString(URLSecrets.percentDecoded(parameter.value ?? []))
    }
  }
}
