/// The notes that a process has reported, each of which it reports once.
final class ReportedNotes {
  private var texts: Set<String> = []

  /// Adds a note.
  ///
  /// - Returns: Whether it is new.
  func insert(_ text: String) -> Bool { texts.insert(text).inserted }
}
