public import Bytes
public import ResponseStorage
import Secrets

/// The secrets that an output may contain.
public struct SecretPolicy: Hashable, Sendable {
  /// Whether nothing is masked, except by ``redactURLs``.
  public var showSecrets: Bool

  /// Whether URLs and keys are masked for programs too.
  public var redactURLs: Bool

  /// Creates a policy. The defaults apply when no option was given.
  public init(showSecrets: Bool = false, redactURLs: Bool = false) {
    self.showSecrets = showSecrets
    self.redactURLs = redactURLs
  }

  /// The reader of an output.
  public enum Reader: Hashable, Sendable {
    /// People, for whom URLs are masked unless secrets are shown.
    case people

    /// Programs, which need unchanged URLs and keys.
    case programs
  }

  /// Whether URLs and keys are masked for `reader`.
  public func masksURLs(for reader: Reader) -> Bool {
    // Programs find entries again by their URLs and keys, so a masked one would be wrong. People
    // share what they see.
    redactURLs || (reader == .people && !showSecrets)
  }

  /// Returns a URL or a key as `reader` may see it.
  public func url(_ url: ByteString, for reader: Reader) -> ByteString {
    masksURLs(for: reader) ? Mask.url(url) : url
  }

  /// Returns header fields with the values of secret fields masked.
  public func headers(_ headers: HeaderFields) -> HeaderFields {
    if showSecrets { return headers }
    return HeaderFields(
      headers.fields.map { field in
        HeaderFields.Field(
          name: field.name, value: Mask.headerValue(field.value, named: field.name))
      })
  }

  /// Returns properties with the values of secret keys masked, at any depth.
  public func properties(
    _ properties: [StoredResponse.Property]
  ) -> [StoredResponse.Property] {
    // For programs too, unlike URLs: no entry is found by its properties, so nothing needs them as
    // they are.
    showSecrets ? properties : Mask.properties(properties)
  }
}

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
