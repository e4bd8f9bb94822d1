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
  func words(after result: ValidationResult) -> String {
    switch self {
    case .skipReason(let skipReason): skipReason.words
    case .failure(let failure): failure.reason
    case .status: "the status is \(result.response?.head.status ?? 0)"
    case .contradiction: "the 304 has a validator that the entry has not"
    }
  }
}

extension ValidationRequest.SkipReason {
  /// The reason for people.
  var words: String {
    switch self {
    case .noValidator: "it has no validator to ask with"
    case .undecodable: "it cannot be decoded"
    case .method: "only GET and HEAD are repeated"
    case .url: "only http and https are asked"
    case .incompleteBody: "its body is not whole, and there is no way to ask for its rest"
    }
  }
}

extension RevalidationPlan.SkipReason {
  /// The reason for people.
  var words: String {
    switch self {
    case .noValidatorIn304: "not updated, as the 304 has no validator"
    case .notStorable: "not replaced, as the answer may not be stored"
    case .partialContent: "not completed, as only the rest of the body was sent"
    case .otherVariant: "not replaced, as the answer may be another variant"
    case .bodyNotSent: "not replaced, as the origin answers 304 all the same"
    case .pinned: "not removed, as it is pinned"
    }
  }
}

extension RestMisfit {
  /// The reason for people, as a clause.
  var words: String {
    switch self {
    case .notSatisfiable: "the origin has no such part of it (416)"
    case .notModified: "the origin answered 304 to the request for the rest"
    case .otherURL: "the rest came from another URL"
    case .multipart: "the rest came in several parts"
    case .contentEncoding: "the rest has a content coding"
    case .validator: "the rest has not the same strong validator"
    case .contentRange: "the Content-Range of the rest does not follow what is stored"
    case .endsEarly: "the rest ends before the end"
    case .length: "the rest has another length than its Content-Range"
    case .otherVariant: "the rest may be that of another variant"
    case .digest: "the joined body has not the digest that the origin gave"
    case .rewritten: "an app may have written its JSON again, and there is no digest"
    }
  }
}
