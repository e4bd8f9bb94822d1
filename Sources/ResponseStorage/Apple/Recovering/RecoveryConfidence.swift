/// How much of an entry was recovered.
public enum RecoveryConfidence: String, Hashable, Sendable, CaseIterable {
  /// The request, the response and the body.
  case complete
  /// The request and the response, and a body that may belong to another version of the entry.
  case bodyUncertain = "body-uncertain"
  /// The request and the response, but not the body.
  case bodyMissing = "body-missing"
  /// The URL, and perhaps when it was first stored.
  case onlyURL = "only-url"
}
