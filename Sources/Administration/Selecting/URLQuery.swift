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
    guard let query = query(of: url.bytes) else { return [] }
    var values: [ByteString] = []
    for parameter in query.split(separator: UInt8(ascii: "&")) {
      let equals = parameter.firstIndex(of: UInt8(ascii: "=")) ?? parameter.endIndex
      guard URLSecrets.percentDecoded(parameter[..<equals]) == name.bytes else { continue }
      let value = parameter[equals...].dropFirst()
      values.append(ByteString(URLSecrets.percentDecoded(value)))
    }
    return values
  }

  /// What stands between the first `?` and the fragment.
  private static func query(of url: [UInt8]) -> ArraySlice<UInt8>? {
    let end = url.firstIndex(of: UInt8(ascii: "#")) ?? url.endIndex
    guard let mark = url[..<end].firstIndex(of: UInt8(ascii: "?")) else { return nil }
    return url[(mark + 1)..<end]
  }
}
