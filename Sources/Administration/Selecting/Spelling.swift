/// How words are told apart that somebody may have misspelt.
public enum Spelling {
  /// The word that differs least from `word`, if that is in no more than two letters; of equal ones the
  /// first.
  public static func nearest(to word: String, among words: some Sequence<String>) -> String? {
    let nearest = words.map { ($0, distance(word, $0)) }.min { $0.1 < $1.1 }
    return nearest.flatMap { $0.1 <= 2 ? $0.0 : nil }
  }

  /// How many letters must be changed, added, dropped to make one word of the other (Levenshtein).
  private static func distance(_ first: String, _ second: String) -> Int {
    let second = Array(second.utf8)
    var row = Array(0...second.count)
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
