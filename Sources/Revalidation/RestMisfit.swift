/// Why the response to a range request was not joined to the stored beginning of a body.
public enum RestMisfit: String, Hashable, Sendable, CaseIterable {
  /// The origin server cannot satisfy the range (416).
  case notSatisfiable = "not-satisfiable"
  /// The origin server answers a range request with 304.
  case notModified = "not-modified"
  /// The response comes from another URL than the stored one.
  case otherURL = "other-url"
  /// The response has several parts (RFC 9110 §14.6).
  case multipart
  /// The response has a content coding, but the stored body has none.
  case contentEncoding = "content-encoding"
  /// The response lacks the strong validator of the stored response (RFC 9110 §15.3.7.3).
  case validator
  /// `Content-Range` is missing or invalid, does not start at the end of the stored body, or has a different complete
  /// length than announced.
  case contentRange = "content-range"
  /// The part ends before the end of the whole body.
  case endsEarly = "ends-early"
  /// The length of the response differs from `Content-Range`.
  case length
  /// The response may be another variant with the same date (RFC 9110 §12.5.5).
  case otherVariant = "other-variant"
  /// The joined body does not have the digest from the origin server.
  case digest
  /// The stored body is JSON that the app may have serialized again, and no digest proves that it did not.
  case rewritten
}
