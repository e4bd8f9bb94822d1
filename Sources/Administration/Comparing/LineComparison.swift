/// The lines that two texts have in common, and the hunks of a unified diff between them.
///
/// Lines that occur exactly once in both texts divide the texts into parts (patience diff). The result follows what a
/// reader would call inserted or removed, and memory grows with the number of lines only.
public struct LineComparison: Sendable {
  /// A change together with the equal lines around it.
  public struct Hunk: Hashable, Sendable {
    /// The lines of the first text that the hunk covers.
    public var first: Range<Int>
    /// The lines of the second text that the hunk covers.
    public var second: Range<Int>
    /// The lines, in order.
    public var lines: [Line] = []
  }

  /// A line of a hunk.
  public enum Line: Hashable, Sendable {
    /// The line is in both texts; the number is its index in the second one.
    case same(Int)
    /// The line is only in the first text.
    case removed(Int)
    /// The line is only in the second text.
    case added(Int)
  }

  /// The lines of the first text, each with its line end; the last may have none.
  public let first: [ArraySlice<UInt8>]

  /// The lines of the second text.
  public let second: [ArraySlice<UInt8>]

  /// The numbers of lines at the ends of both texts that were left out.
  public let omitted: (first: Int, second: Int)

  private let matches: [LineMatch]

  /// Compares two texts.
  ///
  /// - Parameter limit: The maximum number of lines of each text to compare; further lines are left out.
  /// - Complexity: O(*n* log *n*) for most texts with *n* lines, and at most ``LineMatching/deepestDivision`` times as
  ///   much for any other.
  public init(of first: [UInt8], with second: [UInt8], limit: Int = .max) {
    let (one, other) = (Self.lines(of: first, limit), Self.lines(of: second, limit))
    (self.first, self.second) = (one.lines, other.lines)
    omitted = (one.omitted, other.omitted)
    // Numbers are compared faster than lines. A dictionary hashes with a random seed, so nobody can choose lines whose
    // hashes collide.
    var numbers: [ArraySlice<UInt8>: Int] = [:]
    func number(_ line: ArraySlice<UInt8>) -> Int {
      if let number = numbers[line] { return number }
      numbers[line] = numbers.count
      return numbers.count - 1
    }
    let matching = LineMatching(first: self.first.map(number), second: self.second.map(number))
    matches = matching.matches()
  }

  /// Whether the compared lines are equal.
  public var isEqual: Bool { matches.count == first.count && matches.count == second.count }

  /// Returns the changes, each with up to `context` equal lines before and after it. Changes with less than twice as
  /// many equal lines between them share a hunk.
  public func hunks(context: Int = 3) -> [Hunk] {
    var hunks: [Hunk] = []
    var (before, after) = (0, 0)
    // A match behind the last lines ends the last change.
    for match in matches + [LineMatch(first: first.count, second: second.count)] {
      if match.first > before || match.second > after {
        let removed = before..<match.first
        let added = after..<match.second
        let lines = removed.map(Line.removed) + added.map(Line.added)
        if let last = hunks.last, before - last.first.upperBound <= 2 * context {
          extend(&hunks[hunks.count - 1], to: removed, added, lines)
        } else {
          if !hunks.isEmpty { close(&hunks[hunks.count - 1], context) }
          let start = min(context, before)
          var hunk = Hunk(first: (before - start)..<before, second: (after - start)..<after)
          hunk.lines = hunk.second.map(Line.same)
          extend(&hunk, to: removed, added, lines)
          hunks.append(hunk)
        }
      }
      (before, after) = (match.first + 1, match.second + 1)
    }
    if !hunks.isEmpty { close(&hunks[hunks.count - 1], context) }
    return hunks
  }

  /// Adds the equal lines up to a change, and the change.
  private func extend(
    _ hunk: inout Hunk, to removed: Range<Int>, _ added: Range<Int>, _ lines: [Line]
  ) {
    hunk.lines += (hunk.second.upperBound..<added.lowerBound).map(Line.same) + lines
    hunk.first = hunk.first.lowerBound..<removed.upperBound
    hunk.second = hunk.second.lowerBound..<added.upperBound
  }

  /// Adds the equal lines after the last change of a hunk.
  private func close(_ hunk: inout Hunk, _ context: Int) {
    let count = min(context, second.count - hunk.second.upperBound)
    hunk.lines += (hunk.second.upperBound..<(hunk.second.upperBound + count)).map(Line.same)
    hunk.first = hunk.first.lowerBound..<(hunk.first.upperBound + count)
    hunk.second = hunk.second.lowerBound..<(hunk.second.upperBound + count)
  }

  /// Returns the first lines of a text, and the number of the others.
  private static func lines(
    of text: [UInt8], _ limit: Int
  ) -> (lines: [ArraySlice<UInt8>], omitted: Int) {
    var lines: [ArraySlice<UInt8>] = []
    var rest = text[...]
    while lines.count < limit, !rest.isEmpty {
      let end = rest.firstIndex(of: 0x0A).map { $0 + 1 } ?? rest.endIndex
      lines.append(rest[..<end])
      rest = rest[end...]
    }
    let ends = rest.count { $0 == 0x0A }
    return (lines, rest.isEmpty || rest.last == 0x0A ? ends : ends + 1)
  }
}
