import Bytes
import Files

/// A record that removed responses are about to be overwritten, so that the same command does that if this one is killed
/// after it has removed them.
public final class ErasureRecord {
  private let intent: OpenIntent
  private let folder: IntentFolder
  private let place: Intent.Place
  private let now: Timestamp

  fileprivate init(
    _ intent: OpenIntent, _ folder: IntentFolder, _ place: Intent.Place, _ now: Timestamp
  ) {
    (self.intent, self.folder, self.place, self.now) = (intent, folder, place, now)
    intent.notePlace()
  }

  /// Removes the record and those of killed commands, because everything was overwritten.
  public func finish() {
    replaceOthers()
    intent.settle()
  }

  /// Removes the records of other commands that have ended: this one says the same.
  public func replaceOthers() {
    _ = folder.forEachLeftBehind(about: place, at: now) { _ in true }
  }
}

extension StoreOpening {
  /// Records that removed responses are about to be overwritten.
  ///
  /// - Returns: The record; `nil` if nothing of them would remain in a database, or nothing can be recorded.
  public func beginErasure() -> ErasureRecord? {
    guard let intents, let place = erasurePlace, let intent = intents.begin(place) else {
      return nil
    }
    return ErasureRecord(intent, intents, place, now)
  }

  /// Whether a command may have been killed, or stopped, before everything that it removed was overwritten.
  public func mayHaveUnfinishedErasure() -> Bool {
    guard let place = erasurePlace else { return false }
    // Without a folder for records, nobody knows.
    guard let intents, intents.isUsable else { return true }
    var isFound = false
    _ = intents.forEachLeftBehind(about: place, at: now) { _ in
      isFound = true
      return false
    }
    return isFound
  }

  private var erasurePlace: Intent.Place? {
    do throws(StoreError) { return try kind().erasurePlace(at: path) } catch { return nil }
  }
}
