/// The notes that a process has reported, so that it reports each only once.
final class ReportedNotes {
  private var texts: Set<String> = []

  // By its text, since the same option is read for every cache, attempt and round.
  /// Adds a note.
  ///
  /// - Returns: Whether it is new.
  func insert(_ text: String) -> Bool { texts.insert(text).inserted }
}
