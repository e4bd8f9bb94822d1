public import Bytes
import ResponseStorage
import Secrets

/// A required query parameter of a URL.
public struct ParameterCriterion: Hashable, Sendable {
  /// The name, percent-decoded and compared by bytes.
  public var name: ByteString
  /// The value, percent-decoded and compared by bytes; `nil` for any.
  public var value: ByteString?

  /// Creates a criterion.
  public init(name: ByteString, value: ByteString? = nil) {
    self.name = name
    self.value = value
  }

  /// Parses `NAME` or `NAME=VALUE`, split at the first `=`; neither is percent-decoded.
  public init(written text: String) throws(WrittenValueError) {
    let bytes = Array(text.utf8)
    let equals = bytes.firstIndex(of: UInt8(ascii: "=")) ?? bytes.endIndex
    guard equals > 0 else {
      throw WrittenValueError(text, "does not name a parameter", hint: "use 'NAME' or 'NAME=VALUE'")
    }
    self.init(
      name: ByteString(Array(bytes[..<equals])),
      value: equals < bytes.endIndex ? ByteString(Array(bytes[(equals + 1)...])) : nil)
  }

  /// Whether a URL has the parameter; one matching value of a repeated parameter is enough.
  public func holds(in url: ByteString) -> Bool {
    let values = URLQuery.values(of: name, in: url)
    return value.map { values.contains($0) } ?? !values.isEmpty
  }
}

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
