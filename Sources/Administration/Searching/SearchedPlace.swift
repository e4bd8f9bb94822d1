/// A part of an entry that can be searched.
public enum SearchedPart: String, Hashable, Sendable, CaseIterable {
  case url
  /// The header fields and the body of the request.
  case request
  /// The header fields of the response.
  case response
  /// The body of the response.
  case body
}

/// A place in an entry in which text was found.
public enum SearchedPlace: String, Hashable, Sendable, CaseIterable {
  case url
  /// A header field of the request.
  case request
  case requestBody = "request-body"
  /// A header field of the response.
  case response
  case body
}
