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
