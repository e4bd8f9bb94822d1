public import Bytes
import Fetching
public import HTTPCaching
public import ResponseStorage

extension RevalidationPlan {
  /// What happens to a stored response, and why.
  public struct Entry: Hashable, Sendable {
    /// The version of the stored response when its request was created.
    public let version: ResponseVersion
    /// The URL of the stored response.
    public let url: ByteString?
    /// The size of the stored body.
    public let bodySize: ByteCount?
    /// Whether a request was sent.
    public let wasAsked: Bool
    /// The validators that were sent, if a request was.
    public let sent: Set<ValidatorComparison.Decider>
    /// The credentials with which it was stored.
    public let credentials: ValidationRequest.StoredCredentials
    /// The response of the origin server, if there was one.
    public let response: ValidationResponse?
    /// The outcome of the validation.
    public let outcome: ValidationResult.Outcome
    /// The validator that decided the outcome; `nil` if none did.
    public let decider: ValidatorComparison.Decider?
    /// Why the validation failed, or no request was sent.
    public let reason: ValidationResult.Reason?
    /// The body joined from the stored beginning and the rest, if it could be.
    public let joined: JoinedBody?
    /// Why the rest could not be joined, so that the whole body was requested.
    public let misfit: RestMisfit?
    /// The size of the body, or its stored part, that did not have to be sent because it is still valid, in bytes.
    public let savedBytes: ByteCount
    /// What happens to it.
    public let action: Action
    /// Why it is not refreshed or removed.
    public let skipReason: SkipReason?

    /// The target of the redirect, verbatim.
    public var location: ByteString? {
      guard outcome == .redirected else { return nil }
      return response?.head.fields.firstValue(of: "Location").map { ByteString($0) }
    }
  }
}

extension RevalidationPlan.Entry {
  /// Decides what happens to a stored response.
  ///
  /// - Parameter isPinned: Whether it must not be removed.
  public init(
    _ result: ValidationResult, making changes: RevalidationPlan.Changes,
    isPinned: (ValidationRequest) -> Bool = { _ in false }
  ) {
    var (action, skipReason) = Self.decide(result, changes)
    // Last, so that the report can say that a pin prevented what would have been done.
    if action == .remove, isPinned(result.request) { (action, skipReason) = (.none, .pinned) }
    let request = result.request
    self.init(
      version: request.version, url: request.url, bodySize: request.bodySize,
      wasAsked: request.skipReason == nil, sent: request.sent,
      credentials: request.credentials, response: result.response,
      outcome: result.outcome, decider: result.decider, reason: result.reason,
      joined: result.joined, misfit: result.misfit, savedBytes: result.savedBytes, action: action,
      skipReason: skipReason)
  }

  private static func decide(
    _ result: ValidationResult, _ changes: RevalidationPlan.Changes
  ) -> (RevalidationPlan.Action, RevalidationPlan.SkipReason?) {
    switch result.outcome {
    case .unchanged where changes.refreshes, .incomplete where changes.refreshes:
      refresh(result, allowingEmpty: changes.allowsEmpty)
    // A refresh replaces what has changed. Removing it as well would throw away the newer response
    // that was just loaded.
    case .changed, .rolledBack:
      changes.refreshes
        ? refresh(result, allowingEmpty: changes.allowsEmpty)
        : remove(result, ifWanted: changes.removesChanged)
    // Never removed by a refresh: a server may answer 404 for an hour while it is being updated.
    case .gone: remove(result, ifWanted: changes.removesGone)
    default: (.none, nil)
    }
  }

  private static func remove(
    _ result: ValidationResult, ifWanted isWanted: Bool
  ) -> (RevalidationPlan.Action, RevalidationPlan.SkipReason?) {
    guard isWanted else { return (.none, nil) }
    return result.request.credentials == .unknown ? (.none, .credentialsUnknown) : (.remove, nil)
  }

  private static func refresh(
    _ result: ValidationResult, allowingEmpty allowsEmpty: Bool
  ) -> (RevalidationPlan.Action, RevalidationPlan.SkipReason?) {
    guard let response = result.response, let stored = result.request.exchange else {
      return (.none, nil)
    }
    // The store finds the entry to replace by its key, and a 304 has no status for it.
    let version = result.request.version
    let hasKey = if case .file = version.id { true } else { version.key != nil }
    if !hasKey || result.selection != nil && stored.status == nil {
      return (.none, .incompleteEntry)
    }
    switch result.selection {
    // Following such a 304 would make an incomplete entry look complete.
    case .some where result.misfit != nil: return (.none, .bodyNotSent)
    case .sameStrongTag, .sameWeakTag, .sameLastModified, .noValidators:
      // As with a 200, a server that forbids storing means the response that is stored.
      let update = NotModified(
        fields: response.head.fields, requestTime: response.requestTime,
        responseTime: response.responseTime)
      let mayStore = Storability(of: Freshening(stored, by: update).exchange).reason
      return mayStore == .responseNoStore ? (.none, .notStorable) : (.freshen, nil)
    case .ambiguous: return (.none, .noValidatorIn304)
    case .otherStrongTag, .otherWeakValidator: return (.none, .bodyNotSent)
    case nil: break
    }
    if let body = result.joined {
      let mayStore = Storability(of: stored.completed(by: response, body)).mayStore
      return mayStore ? (.complete, nil) : (.none, .notStorable)
    }
    let answer = Exchange(
      request: stored.request, status: response.head.status, fields: response.head.fields,
      responseTime: response.responseTime)
    // A part must not take the place of what is stored, which is at least as long.
    if response.head.status == 206 { return (.none, .partialContent) }
    guard response.head.status == 200, Storability(of: answer).mayStore else {
      return (.none, .notStorable)
    }
    if result.mayBeOtherVariant { return (.none, .otherVariant) }
    // Servers that fail halfway answer so, and an app would show nothing.
    let isEmptied = response.bodySize == 0 && result.request.bodySize ?? 0 > 0
    return isEmptied && !allowsEmpty ? (.none, .emptyBody) : (.replace, nil)
  }
}
