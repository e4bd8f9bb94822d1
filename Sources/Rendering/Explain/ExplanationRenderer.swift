/// Why stored responses are used or not, as text or as JSON.
public struct ExplanationRenderer: Sendable {
  /// Which secrets the output may contain.
  public var secrets: SecretPolicy

  /// Creates a renderer.
  public init(secrets: SecretPolicy) {
    self.secrets = secrets
  }
}
