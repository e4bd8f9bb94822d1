import Fetching
import Revalidation

extension ValidationResult.Reason {
  /// The reason as a code for programs.
  var code: String {
    switch self {
    case .skipReason(let skipReason): skipReason.rawValue
    // The kind and not the text, which comes from the system and may change with its language.
    case .failure(let failure): failure.kind.rawValue
    case .status: "status"
    case .contradiction: "contradiction"
    }
  }

  /// The reason for people. Parts of it may come from outside, so it must be escaped.
  ///
  /// - Parameter status: The status of the response, if there was one.
  func words(status: Int64?) -> String {
    switch self {
    case .skipReason(let skipReason): skipReason.words
    case .failure(let failure): failure.reason
    case .status: "the status is \(status ?? 0)"
    case .contradiction: "the 304 has a validator that the entry does not have"
    }
  }
}

extension ValidationRequest.SkipReason {
  /// The reason for people.
  var words: String {
    switch self {
    case .noValidator: "it has no validator"
    case .undecodable: "it cannot be decoded"
    case .method: "only GET and HEAD requests can be repeated"
    case .url: "only http and https URLs can be requested"
    case .noStore: "it has no-store, so it must not be used"
    case .incompleteBody: "its body is incomplete, and the rest cannot be requested"
    case .needsCredentials:
      "unknown: it was stored with credentials, which '--with-credentials' sends"
    case .unsendableCredentials: "unknown: it was stored with credentials that cannot be sent"
    }
  }
}

extension RevalidationPlan.SkipReason {
  /// The reason for people.
  var words: String {
    switch self {
    case .noValidatorIn304: "not updated, because the 304 has no validator"
    case .notStorable: "not replaced, because the response may not be stored"
    case .partialContent: "not replaced, because the server sent only part of the body"
    case .emptyBody: "not replaced, because the new body is empty (see '--allow-empty')"
    case .otherVariant: "not replaced, because the response may be a different variant"
    case .bodyNotSent:
      "not replaced, because the server answered the unconditional request with 304"
    case .pinned: "not removed, because it is pinned"
    case .incompleteEntry: "not refreshed, because its key or its status is missing"
    case .credentialsUnknown:
      "not removed, because it may have been stored with credentials that the cache does not record"
    }
  }
}

extension RestMisfit {
  /// The reason for people, as a clause.
  var words: String {
    switch self {
    case .notSatisfiable: "the server does not have the requested range (416)"
    case .notModified: "the server answered the range request with 304"
    case .otherURL: "the rest came from a different URL"
    case .multipart: "the rest came in several parts"
    case .contentEncoding: "the rest has a content coding"
    case .validator: "the rest has a different strong validator, or none"
    case .contentRange: "the Content-Range of the rest does not continue the stored part"
    case .endsEarly: "the rest is incomplete"
    case .length: "the length of the rest does not match its Content-Range"
    case .otherVariant: "the rest may belong to a different variant"
    case .digest: "the joined body does not match the server's digest"
    case .rewritten: "the app may have re-encoded the JSON, and there is no digest to check"
    }
  }
}
