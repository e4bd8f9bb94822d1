public import Bytes
public import ResponseStorage

/// Replaces secrets with `***` and leaves all other bytes unchanged.
public enum Mask {
  /// The text that replaces a secret.
  public static let replacement: ByteString = "***"

  /// Returns a URL without its user info and without the values of parameters that look like tokens.
  ///
  /// Parameters are found in the query, in the fragment, and after a `;` in the path; JSON Web Tokens are found
  /// anywhere.
  public static func url(_ url: ByteString) -> ByteString {
    URLSecrets().replacing(in: url) { _ in replacement }
  }

  /// Returns the value of a header field, masked if fields with this `name` contain secrets.
  ///
  /// In other fields, URLs with user info, a query, a fragment or path parameters are masked as by ``url(_:)``. A value with a JSON Web
  /// Token or with credentials is masked entirely.
  public static func headerValue(_ value: ByteString, named name: ByteString) -> ByteString {
    // The whole value, and not only what looks random: a short password looks like any other word.
    if SecretNames.isSecretHeader(name.bytes[...]) { return replacement }
    let bytes = value.bytes
    // Most values have none of these bytes, and need no search for URLs.
    let mayContainSecretURL = bytes.contains { byte in
      switch byte {
      case UInt8(ascii: "?"), UInt8(ascii: "@"), UInt8(ascii: "#"), UInt8(ascii: ";"): true
      default: false
      }
    }
    let masked =
      mayContainSecretURL
      // Fields such as `Location` and `Referer` contain whole URLs, with the tokens in them.
      ? URLSecrets().replacing(in: value, as: .text) { _ in replacement } : value
    let isSecret =
      // Apps send tokens in fields of any name, so the value decides as well.
      URLSecrets.hasWebToken(masked.bytes[...]) || Credentials.areIn(fieldValue: masked.bytes[...])
    return isSecret ? replacement : masked
  }

  /// Returns properties with the values of secret keys masked, at any depth.
  public static func properties(
    _ properties: [StoredResponse.Property]
  ) -> [StoredResponse.Property] {
    properties.map { property in
      StoredResponse.Property(
        key: property.key,
        // Apps attach anything under any key. The Vary record, too, contains a cookie if the
        // response varies on it.
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
        URLSecrets.isWebToken(text.bytes[...]) || Credentials.areIn(fieldValue: text.bytes[...])
          ? replacement : url(text))
    case .array(let values): .array(values.map(Self.value))
    case .dictionary(let members): .dictionary(properties(members))
    case .null, .boolean, .integer, .real, .date, .data, .opaque: value
    }
  }
}
