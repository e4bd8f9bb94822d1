import Files
public import ResponseStorage

/// What is known of the recovered entry that is being listed, besides its content.
///
/// There can be too many entries to keep the facts of all of them.
public final class RecoveredFacts: Hashable, Sendable {
  private let current = Monitor<RecoveredFact?>(nil)

  /// Creates facts of no entry.
  public init() {}

  /// Reads what is known of an entry.
  ///
  /// - Throws: An error of a temporary file.
  @discardableResult
  public func read(
    _ id: StoredResponse.ID, from store: any RemovedEntries
  ) throws -> RecoveredFact? {
    let fact = try store.fact(of: id)
    current.withLock { $0 = fact }
    return fact
  }

  /// Returns what is known of an entry; `nil` if it is not the one that was read last.
  public func fact(of id: StoredResponse.ID) -> RecoveredFact? {
    current.withLock { $0?.id == id ? $0 : nil }
  }

  public static func == (one: RecoveredFacts, other: RecoveredFacts) -> Bool { one === other }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
