public import Bytes
public import ResponseStorage

/// Which secrets an output may contain.
public struct SecretPolicy: Hashable, Sendable {
  /// Whether nothing is masked, except as ``redactURLs`` says.
  public var showSecrets: Bool

  /// Whether URLs and keys are masked in the formats for programs too.
  public var redactURLs: Bool

  /// Creates a policy; by default, the one that is in force when no option was given.
  public init(showSecrets: Bool = false, redactURLs: Bool = false) {
    self.showSecrets = showSecrets
    self.redactURLs = redactURLs
  }

  /// Who reads an output.
  public enum Reader: Hashable, Sendable {
    /// People, who see URLs masked unless secrets are shown.
    case people

    /// Programs, which need URLs and keys as they are.
    case programs
  }

  /// Whether URLs and keys are masked for `reader`.
  public func masksURLs(for reader: Reader) -> Bool {
    redactURLs || (reader == .people && !showSecrets)
  }

  /// A URL or a key as `reader` may see it.
  public func url(_ url: ByteString, for reader: Reader) -> ByteString {
    masksURLs(for: reader) ? Mask.url(url) : url
  }

  /// Header fields with the values of those that hold secrets masked.
  public func headers(_ headers: HeaderFields) -> HeaderFields {
    if showSecrets { return headers }
    return HeaderFields(
      headers.fields.map { field in
        HeaderFields.Field(
          name: field.name, value: Mask.headerValue(field.value, named: field.name))
      })
  }

  /// Properties with the values masked whose key is that of a secret, at any depth.
  public func properties(
    _ properties: [StoredResponse.Property]
  ) -> [StoredResponse.Property] {
    showSecrets ? properties : Mask.properties(properties)
  }
}
