/// The notes that a process has reported, so that it reports each only once.
final class ReportedNotes {
  private var texts: Set<String> = []

  /// Adds a note.
  ///
  /// - Returns: Whether it is new.
  func insert(_ text: String) -> Bool { texts.insert(text).inserted }
}
