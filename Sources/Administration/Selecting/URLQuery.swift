public import Bytes
import ResponseStorage

/// The parameters in the query of a URL, as forms write them: `a=1&b=2` (URL Standard §5.1).
public enum URLQuery {
  /// The values of all parameters of a name, in their order; one without `=` has an empty value.
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
