/// The notes that a process has told its user, each of which it tells once.
final class ToldNotes {
  private var texts: Set<String> = []

  /// Adds a note.
  ///
  /// - Returns: Whether it is new.
  func insert(_ text: String) -> Bool { texts.insert(text).inserted }
}
