/// Suggests corrections of misspelled words.
public enum Spelling {
  /// Returns the word most similar to `word`, if few enough letters differ; the first of equally similar words.
  ///
  /// Up to two letters may differ, but only one of a short word: with two other letters, `find` is `pin`.
  public static func nearest(to word: String, among words: some Sequence<String>) -> String? {
    let nearest = words.map { ($0, distance(word, $0)) }.min { $0.1 < $1.1 }
    let most =
      switch word.utf8.count {
      case ...2: 0
      case ...5: 1
      default: 2
      }
    return nearest.flatMap { $0.1 <= most ? $0.0 : nil }
  }

  /// Returns the number of letters to change, add, drop or swap with the next one to turn one word into the other
  /// (optimal string alignment).
  private static func distance(_ first: String, _ second: String) -> Int {
    let second = Array(second.utf8)
    // Limit the length, so that a long word takes no long time.
    let first = Array(first.utf8.prefix(64))
    var rows = [Array(0...second.count)]
    for (index, letter) in first.enumerated() {
      var row = [index + 1]
      for (column, other) in second.enumerated() {
        let cost = letter == other ? 0 : 1
        var distance = min(rows[index][column] + cost, rows[index][column + 1] + 1, row[column] + 1)
        if index > 0, column > 0, letter == second[column - 1], first[index - 1] == other {
          distance = min(distance, rows[index - 1][column - 1] + 1)
        }
        row.append(distance)
      }
      rows.append(row)
    }
    return rows[first.count][second.count]
  }
}
