public import Bytes
public import ResponseStorage

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
