public import Bytes
import Fetching
import HTTPCaching
import ResponseStorage

/// The changes to stored responses after validation, decided before anything is changed.
public struct RevalidationPlan: Hashable, Sendable {
  /// The permitted changes.
  public struct Changes: Hashable, Sendable {
    /// Whether a 304 updates the stored response, and a 200 replaces it.
    public var refreshes = false
    /// Whether responses that have changed on the server are removed.
    public var removesChanged = false
    /// Whether responses that no longer exist on the server are removed.
    public var removesGone = false

    /// Creates changes that permit nothing.
    public init() {}

    /// Whether nothing is changed, regardless of the server's responses.
    public var isNothing: Bool { !refreshes && !removesChanged && !removesGone }
  }

  /// What happens to a stored response.
  public enum Action: String, Hashable, Sendable, CaseIterable {
    /// Nothing.
    case none
    /// Its header fields are updated (RFC 9111 §4.3.4).
    case freshen
    /// It is replaced by the server's response.
    case replace
    /// Its partial body is completed with the rest (RFC 9110 §15.3.7.3).
    case complete
    /// It is removed.
    case remove
  }

  /// Why a stored response is not refreshed or removed although that was requested.
  public enum SkipReason: String, Hashable, Sendable, CaseIterable {
    /// The 304 has no validator, so it is unknown which response it confirms (RFC 9111 §4.3.4).
    case noValidatorIn304 = "no-validator-in-304"
    /// A cache may not store the server's response (RFC 9111 §3).
    case notStorable = "not-storable"
    /// The server sent the rest of the body, which could not be joined.
    case partialContent = "partial-content"
    /// The server's response may be a variant of the stored one (RFC 9110 §12.5.5).
    case otherVariant = "other-variant"
    /// The origin server answers 304 although it has something else, even without conditions.
    case bodyNotSent = "body-not-sent"
    /// It is pinned, so it is not removed.
    case pinned
  }

  /// A stored response.
  public struct Entry: Hashable, Sendable {
    /// The result of its validation.
    public let result: ValidationResult
    /// What happens to it.
    public let action: Action
    /// Why it is not refreshed or removed.
    public let skipReason: SkipReason?
  }

  /// The stored responses, in the order of their requests.
  public let entries: [Entry]

  /// Decides what happens to each response.
  ///
  /// - Parameter isPinned: Whether a stored response must not be removed.
  public init(
    _ results: [ValidationResult], making changes: Changes,
    keepingPinned isPinned: (ValidationRequest) -> Bool = { _ in false }
  ) {
    entries = results.map { result in
      var (action, skipReason) = Self.decide(result, changes)
      // Last, so that the report can say that a pin prevented what would have been done.
      if action == .remove, isPinned(result.request) { (action, skipReason) = (.none, .pinned) }
      return Entry(result: result, action: action, skipReason: skipReason)
    }
  }

  /// Returns the number of stored responses with an outcome.
  public func count(_ outcome: ValidationResult.Outcome) -> Int {
    entries.count { $0.result.outcome == outcome }
  }

  /// Returns the number of stored responses with an action.
  public func count(_ action: Action) -> Int { entries.count { $0.action == action } }

  /// The number of stored responses for which a request was sent.
  public var askedCount: Int { entries.count { $0.result.request.skipReason == nil } }

  /// The size of bodies that did not have to be sent because the stored ones are still valid, in bytes.
  public var savedBytes: ByteCount {
    entries.reduce(0) { $0 + $1.result.savedBytes }
  }

  /// Whether the plan changes anything.
  public var changesAnything: Bool { entries.contains { $0.action != .none } }

  private static func decide(
    _ result: ValidationResult, _ changes: Changes
  ) -> (Action, SkipReason?) {
    switch result.outcome {
    case .unchanged where changes.refreshes, .incomplete where changes.refreshes: refresh(result)
    // A refresh replaces what has changed. Removing it as well would throw away the newer response
    // that was just loaded.
    case .changed, .rolledBack:
      if changes.refreshes {
        refresh(result)
      } else {
        (changes.removesChanged ? .remove : .none, nil)
      }
    // Never removed by a refresh: a server may answer 404 for an hour while it is being updated.
    case .gone: (changes.removesGone ? .remove : .none, nil)
    default: (.none, nil)
    }
  }

  private static func refresh(_ result: ValidationResult) -> (Action, SkipReason?) {
    guard let response = result.response, let stored = result.request.exchange else {
      return (.none, nil)
    }
    switch result.selection {
    // Following such a 304 would make an incomplete entry look complete.
    case .some where result.misfit != nil: return (.none, .bodyNotSent)
    case .sameStrongTag, .sameWeakTag, .sameLastModified, .noValidators: return (.freshen, nil)
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
    return result.mayBeOtherVariant ? (.none, .otherVariant) : (.replace, nil)
  }
}
