/// Why the answer to a request for the rest of a body was not joined to the stored beginning.
public enum RestMisfit: String, Hashable, Sendable, CaseIterable {
  /// The origin has no such part (416).
  case notSatisfiable = "not-satisfiable"
  /// The origin answers 304, though it was asked for a part.
  case notModified = "not-modified"
  /// Another URL answered than that of the stored response.
  case otherURL = "other-url"
  /// The answer consists of several parts (RFC 9110 §14.6).
  case multipart
  /// The answer has a content coding, and what is stored has none.
  case contentEncoding = "content-encoding"
  /// The answer has not the strong validator of the stored response (RFC 9110 §15.3.7.3).
  case validator
  /// `Content-Range` is not there or not valid, does not begin where the stored body ends, or has another
  /// complete length than was announced.
  case contentRange = "content-range"
  /// The part ends before the end of the whole.
  case endsEarly = "ends-early"
  /// The answer has another number of bytes than `Content-Range` says.
  case length
  /// The answer may be that of another variant with the same date (RFC 9110 §12.5.5).
  case otherVariant = "other-variant"
  /// The joined body has not the digest that the origin gave.
  case digest
  /// What is stored is JSON, which an app may have written again, and no digest tells that it has not.
  case rewritten
}
