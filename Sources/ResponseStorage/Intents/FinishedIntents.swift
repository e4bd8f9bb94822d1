import Files

/// The result of finishing what killed commands had begun on a store.
public struct FinishedIntents: Hashable, Sendable {
  /// Whether the files are orphans; otherwise they were being written.
  public var areBodyFiles = false
  /// The number of removed files.
  public var removedFiles = 0
  /// The number of files that could not be removed and are left to the next command.
  public var remainingFiles = 0
  /// The number of intents that could not be read and were removed.
  public var damagedIntents = 0
  /// Why something is left to the next command; `nil` if nothing is.
  public var failure: StoreError?

  /// Creates an empty result.
  public init() {}
}

/// A store whose commands record which files they are about to change.
protocol IntentStore: ResponseStore {
  /// Finishes an intent, as far as it is not done.
  ///
  /// A file is removed only if the store does not need it, and only if it is the same file as when the intent
  /// was recorded.
  ///
  /// - Returns: Whether the intent can be removed.
  func finish(_ intent: Intent, into finished: inout FinishedIntents) throws(StoreError) -> Bool
}

extension StoreOpening {
  /// Removes the files that killed commands have left behind.
  ///
  /// Never throws: what cannot be done now is left to the next command, and opening the store will report why it
  /// cannot be opened.
  public func finishIntents() -> FinishedIntents {
    var finished = FinishedIntents()
    guard let intents else { return finished }
    // Try every kind: a half-created store is not yet recognized as one.
    for kind in Self.kinds {
      guard let place = kind.intentPlace(at: path) else { continue }
      var store: (any IntentStore)?
      let damaged = intents.forEachLeftBehind(about: place, at: now) { intent in
        do throws(StoreError) {
          if store == nil {
            // Opened for the first intent and not before: mostly there is none, and opening takes
            // locks.
            store = try kind.changing(self, verifying: false)
          }
          guard let store else { return false }
          return try store.finish(intent, into: &finished)
        } catch {
          finished.failure = error
          return false
        }
      }
      finished.damagedIntents += damaged
    }
    return finished
  }
}
