import Fetching
import Revalidation

extension ValidationResult.Reason {
  /// The reason, for programs.
  var code: String {
    switch self {
    case .obstacle(let obstacle): obstacle.rawValue
    case .failure(let failure): failure.kind.rawValue
    case .status: "status"
    case .contradiction: "contradiction"
    }
  }

  /// The reason, for people; part of it may come from outside.
  func words(after result: ValidationResult) -> String {
    switch self {
    case .obstacle(let obstacle): obstacle.words
    case .failure(let failure): failure.reason
    case .status: "the status is \(result.response?.head.status ?? 0)"
    case .contradiction: "the 304 has a validator that the entry has not"
    }
  }
}

extension ValidationRequest.Obstacle {
  /// The obstacle, for people.
  var words: String {
    switch self {
    case .noValidator: "it has no validator to ask with"
    case .undecodable: "it cannot be decoded"
    case .method: "only GET and HEAD are repeated"
    case .url: "only http and https are asked"
    case .incompleteBody: "its body is not whole, and it has no strong validator"
    }
  }
}

extension RevalidationPlan.Hindrance {
  /// The hindrance, for people.
  var words: String {
    switch self {
    case .noValidatorIn304: "not updated, as the 304 has no validator"
    case .notStorable: "not replaced, as the answer may not be stored"
    case .partialContent: "not completed, as only the rest of the body was sent"
    }
  }
}
