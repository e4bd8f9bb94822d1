/// Renders why stored responses are reused or not.
public struct ExplanationRenderer: Sendable {
  /// Which secrets the output may contain.
  public var secrets: SecretPolicy

  /// Creates a renderer.
  public init(secrets: SecretPolicy) {
    self.secrets = secrets
  }
}
