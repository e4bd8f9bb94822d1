// Without the cache and the time: it is copied to several threads, which explain one entry each.
/// Renders why stored responses are reused or not.
public struct ExplanationRenderer: Sendable {
  /// Which secrets the output may contain.
  public var secrets: SecretPolicy

  /// Creates a renderer.
  public init(secrets: SecretPolicy) {
    self.secrets = secrets
  }
}
