public import ResponseStorage

/// What is known of recovered entries besides their content.
public struct RecoveredFacts: Hashable, Sendable {
  private let facts: [StoredResponse.ID: RecoveredStore.Fact]

  /// Collects the facts of a search.
  public init(of store: RecoveredStore) {
    facts = Dictionary(store.facts.map { ($0.id, $0) }) { first, _ in first }
  }

  /// Returns what is known of an entry.
  public func fact(of id: StoredResponse.ID) -> RecoveredStore.Fact? { facts[id] }

  /// The number of entries of a kind.
  public func count(of confidence: RecoveryConfidence) -> Int {
    facts.values.reduce(0) { $0 + ($1.confidence == confidence ? 1 : 0) }
  }
}
