/// A parameter in the query of a URL, as forms write it: `name=value` (URL Standard §5.1).
public struct URLParameter: Sendable {
  /// The bytes before the first `=`, as they are written.
  public let name: ArraySlice<UInt8>

  /// The bytes behind the first `=`, as they are written; `nil` without `=`.
  public let value: ArraySlice<UInt8>?

  /// Splits a parameter at its first `=`.
  init(_ text: ArraySlice<UInt8>) {
    let equals = text.firstIndex(of: UInt8(ascii: "="))
    name = text[..<(equals ?? text.endIndex)]
    value = equals.map { text[($0 + 1)...] }
  }
}

extension URLParts {
  /// The parameters of the query, in their order; nothing between two `&` is none.
  public var parameters: [URLParameter] {
    (query ?? []).split(separator: UInt8(ascii: "&")).map { URLParameter($0) }
  }
}
