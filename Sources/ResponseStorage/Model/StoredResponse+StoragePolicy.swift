/// The raw values of `URLCache.StoragePolicy`, which are the same in both kinds of store.
extension StoredResponse.StoragePolicy {
  /// Creates a policy from its raw value.
  public init(stored number: Int64) {
    switch number {
    case 0: self = .allowed
    case 1: self = .allowedInMemoryOnly
    case 2: self = .notAllowed
    default: self = .unknown(number)
    }
  }

  /// The raw value of the policy.
  public var number: Int64 {
    switch self {
    case .allowed: 0
    case .allowedInMemoryOnly: 1
    case .notAllowed: 2
    case .unknown(let number): number
    }
  }
}
