/// Suggests corrections of misspelled words.
public enum Spelling {
  /// Returns the word most similar to `word`, if they differ by at most two letters; the first of equally similar
  /// words.
  public static func nearest(to word: String, among words: some Sequence<String>) -> String? {
    let nearest = words.map { ($0, distance(word, $0)) }.min { $0.1 < $1.1 }
    return nearest.flatMap { $0.1 <= 2 ? $0.0 : nil }
  }

  /// Returns the number of letters to change, add or drop to turn one word into the other (Levenshtein distance).
  private static func distance(_ first: String, _ second: String) -> Int {
    let second = Array(second.utf8)
    var row = Array(0...second.count)
    // Limit the length, so that a long word takes no long time.
    for (index, letter) in first.utf8.prefix(64).enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for column in second.indices {
        let cost = letter == second[column] ? diagonal : diagonal + 1
        diagonal = row[column + 1]
        row[column + 1] = min(cost, row[column + 1] + 1, row[column] + 1)
      }
    }
    return row[second.count]
  }
}
