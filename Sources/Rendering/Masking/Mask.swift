public import Bytes
public import ResponseStorage

/// Replaces secrets by `***` and leaves every other byte as it is.
public enum Mask {
  /// What stands for a secret.
  public static let replacement: ByteString = "***"

  /// A URL without its user information and the values of parameters that look like tokens.
  ///
  /// Parameters are looked for in the query, in the fragment, and after a `;` in the path; JSON Web Tokens
  /// everywhere.
  public static func url(_ url: ByteString) -> ByteString {
    URLSecrets().replacing(in: url) { _ in replacement }
  }

  /// The value of a header field, masked if a field called `name` holds a secret.
  ///
  /// A URL in any other value is masked as ``url(_:)`` does; a value with a JSON Web Token or with credentials
  /// as a whole.
  public static func headerValue(_ value: ByteString, named name: ByteString) -> ByteString {
    if SecretNames.isSecretHeader(name.bytes[...]) { return replacement }
    let bytes = value.bytes
    let holdsURL =
      bytes.contains(UInt8(ascii: "?")) || bytes.contains(UInt8(ascii: "@"))
      || bytes.contains(UInt8(ascii: "#"))
    let masked =
      holdsURL ? URLSecrets().replacing(in: value, as: .text) { _ in replacement } : value
    let isSecret =
      URLSecrets.hasWebToken(masked.bytes[...]) || Credentials.areIn(masked.bytes[...])
    return isSecret ? replacement : masked
  }

  /// Properties with the values masked whose key is that of a secret, at any depth.
  public static func properties(
    _ properties: [StoredResponse.Property]
  ) -> [StoredResponse.Property] {
    properties.map { property in
      StoredResponse.Property(
        key: property.key,
        value: SecretNames.isSecretHeader(property.key.bytes[...])
          ? .text(replacement) : value(property.value))
    }
  }

  private static func value(
    _ value: StoredResponse.PropertyValue
  ) -> StoredResponse.PropertyValue {
    switch value {
    case .text(let text):
      .text(
        URLSecrets.isWebToken(text.bytes[...]) || Credentials.areIn(text.bytes[...])
          ? replacement : url(text))
    case .array(let values): .array(values.map(Self.value))
    case .dictionary(let members): .dictionary(properties(members))
    case .null, .boolean, .integer, .real, .date, .data, .opaque: value
    }
  }
}
