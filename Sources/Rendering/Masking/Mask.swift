public import Bytes
public import ResponseStorage
import Secrets

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

  /// Returns the value of a header field with its secrets masked; the whole value, if fields with this `name` contain secrets.
  public static func headerValue(_ value: ByteString, named name: ByteString) -> ByteString {
    // The whole value, and not only what looks random: a short password looks like any other word.
    SecretNames.isSecretHeader(name.bytes[...])
      ? replacement : URLSecrets().replacing(in: value, ofField: name) { _ in replacement }
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
          ? .text(replacement) : value(property.value, named: property.key))
    }
  }

  private static func value(
    _ value: StoredResponse.PropertyValue, named name: ByteString
  ) -> StoredResponse.PropertyValue {
    switch value {
    case .text(let text):
      .text(
        URLSecrets.isWebToken(text.bytes[...]) ? replacement : url(headerValue(text, named: name)))
    // Only as a whole: what it is, is not known.
    case .data(let data): SecretRanges.of(data).isEmpty ? value : .text(replacement)
    case .array(let values): .array(values.map { Self.value($0, named: name) })
    case .dictionary(let members): .dictionary(properties(members))
    case .null, .boolean, .integer, .real, .date, .opaque: value
    }
  }
}
