public import Bytes
import Fetching
import HTTPCaching
import ResponseStorage

/// What is to be done with stored responses after their origins were asked, decided before anything is.
public struct RevalidationPlan: Hashable, Sendable {
  /// What may be done.
  public struct Changes: Hashable, Sendable {
    /// Whether a 304 updates the stored response, and a 200 takes its place.
    public var refreshes = false
    /// Whether what has changed is removed.
    public var removesChanged = false
    /// Whether what is gone is removed.
    public var removesGone = false

    /// Creates the changes of a command that changes nothing.
    public init() {}

    /// Whether nothing is changed, whatever the answers are.
    public var isNothing: Bool { !refreshes && !removesChanged && !removesGone }
  }

  /// What is done with a stored response.
  public enum Action: String, Hashable, Sendable, CaseIterable {
    /// Nothing.
    case none
    /// Its header fields are updated (RFC 9111 §4.3.4).
    case freshen
    /// The answer takes its place.
    case replace
    /// The rest of its body is joined to what is stored of it (RFC 9110 §15.3.7.3).
    case complete
    /// It is removed.
    case remove
  }

  /// Why a stored response is not refreshed, or not removed, although that was wanted.
  public enum Hindrance: String, Hashable, Sendable, CaseIterable {
    /// The 304 has no validator, so that it does not say which response it is about (RFC 9111 §4.3.4).
    case noValidatorIn304 = "no-validator-in-304"
    /// A cache may not store the answer (RFC 9111 §3).
    case notStorable = "not-storable"
    /// The answer is the rest of the body, and was not to be joined.
    case partialContent = "partial-content"
    /// The answer may be another variant than the stored one (RFC 9110 §12.5.5).
    case otherVariant = "other-variant"
    /// The origin answers 304 although it has something else, and was asked without conditions.
    case bodyNotSent = "body-not-sent"
    /// It is pinned, and not removed.
    case pinned
  }

  /// A stored response.
  public struct Entry: Hashable, Sendable {
    /// What is known of it.
    public let result: ValidationResult
    /// What is done with it.
    public let action: Action
    /// Why it is not refreshed.
    public let hindrance: Hindrance?
  }

  /// The stored responses, in the order in which they were asked for.
  public let entries: [Entry]

  /// Decides what is done.
  ///
  /// - Parameter isPinned: Whether a stored response is not to be removed.
  public init(
    _ results: [ValidationResult], making changes: Changes,
    sparing isPinned: (ValidationRequest) -> Bool = { _ in false }
  ) {
    entries = results.map { result in
      var (action, hindrance) = Self.decide(result, changes)
      if action == .remove, isPinned(result.request) { (action, hindrance) = (.none, .pinned) }
      return Entry(result: result, action: action, hindrance: hindrance)
    }
  }

  /// The number of stored responses of which something became.
  public func count(_ outcome: ValidationResult.Outcome) -> Int {
    entries.count { $0.result.outcome == outcome }
  }

  /// The number of stored responses with which something is done.
  public func count(_ action: Action) -> Int { entries.count { $0.action == action } }

  /// The number of stored responses whose origins were asked.
  public var askedCount: Int { entries.count { $0.result.request.obstacle == nil } }

  /// What was not sent, as the stored bodies are still good, in bytes.
  public var savedBytes: ByteCount {
    entries.reduce(0) { $0 + $1.result.savedBytes }
  }

  /// Whether carrying it out changes anything.
  public var changesAnything: Bool { entries.contains { $0.action != .none } }

  private static func decide(
    _ result: ValidationResult, _ changes: Changes
  ) -> (Action, Hindrance?) {
    switch result.outcome {
    case .unchanged where changes.refreshes, .incomplete where changes.refreshes: refresh(result)
    case .changed, .rolledBack:
      if changes.refreshes {
        refresh(result)
      } else {
        (changes.removesChanged ? .remove : .none, nil)
      }
    case .gone: (changes.removesGone ? .remove : .none, nil)
    default: (.none, nil)
    }
  }

  private static func refresh(_ result: ValidationResult) -> (Action, Hindrance?) {
    guard let response = result.response, let stored = result.request.exchange else {
      return (.none, nil)
    }
    switch result.selection {
    // To go by it would make an entry of which a part is missing as good as new.
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
    if response.head.status == 206 { return (.none, .partialContent) }
    guard response.head.status == 200, Storability(of: answer).mayStore else {
      return (.none, .notStorable)
    }
    return result.mayBeOtherVariant ? (.none, .otherVariant) : (.replace, nil)
  }
}
