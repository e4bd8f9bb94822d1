import Files

/// What was done to finish what commands on a store had begun that were killed.
public struct FinishedIntents: Hashable, Sendable {
  /// Whether the files are body files that no entry names; otherwise they were being written.
  public var areBodyFiles = false
  /// The number of files that are gone.
  public var removedFiles = 0
  /// The number of files that could not be removed, and are left to the next command.
  public var remainingFiles = 0
  /// The number of intents that could not be read, and are gone.
  public var damagedIntents = 0
  /// Why something is left to the next command; `nil` if nothing is.
  public var failure: StoreError?

  /// Creates what was done if there was nothing to do.
  public init() {}
}

/// A store whose commands note what they are about to do to files.
protocol IntentStore: ResponseStore {
  /// Ends what an intent says, as far as it is not done.
  ///
  /// Only files of which the store says that they are of no use are removed, and only if they are those that the
  /// intent is about.
  ///
  /// - Returns: Whether the intent is of no more use.
  func finish(_ intent: Intent, into finished: inout FinishedIntents) throws(StoreError) -> Bool
}

extension StoreOpening {
  /// Removes the files that commands have left behind that were killed.
  ///
  /// There is no error: what cannot be done now is left to the next command, and a cache that cannot be opened is
  /// told of by whoever opens it next.
  public func finishIntents() -> FinishedIntents {
    var finished = FinishedIntents()
    guard let intents else { return finished }
    // A store that has only been begun is not told from other folders.
    for kind in Self.kinds {
      guard let place = kind.intentPlace(at: path) else { continue }
      var store: (any IntentStore)?
      let damaged = intents.forEachLeftBehind(about: place, at: now) { intent in
        do throws(StoreError) {
          if store == nil {
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
