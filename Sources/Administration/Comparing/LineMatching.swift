/// A line of one text that equals a line of another.
struct LineMatch: Hashable, Sendable {
  var first: Int
  var second: Int
}

/// The search for equal lines in two texts, whose lines are represented by numbers.
struct LineMatching {
  /// The maximum number of times that a part is divided again.
  ///
  /// Useful divisions halve a part. A text in which each division cuts off a single line would take quadratic time
  /// without a limit.
  static let deepestDivision = 64

  /// The maximum number of lines in a part that is compared by the standard library.
  ///
  /// Its algorithm (Myers) needs memory in proportion to the square of the number of differences.
  static let longestPart = 1_000

  let first: [Int]
  let second: [Int]

  /// Two ranges of lines that are compared with each other.
  fileprivate struct Part {
    var first: Range<Int>
    var second: Range<Int>
    var depth = 0
  }

  /// Returns the matching lines, in ascending order in both texts.
  func matches() -> [LineMatch] {
    var matches: [LineMatch] = []
    // A stack instead of recursion, because the depth depends on the texts.
    var parts = [Part(first: first.indices, second: second.indices)]
    while var part = parts.popLast() {
      trim(&part, &matches)
      if part.first.isEmpty || part.second.isEmpty { continue }
      let anchors = part.depth < Self.deepestDivision ? anchors(of: part) : []
      if anchors.isEmpty {
        compare(part, &matches)
      } else {
        matches += anchors
        let end = LineMatch(first: part.first.upperBound, second: part.second.upperBound)
        var (before, after) = (part.first.lowerBound, part.second.lowerBound)
        for anchor in anchors + [end] {
          parts.append(
            Part(
              first: before..<anchor.first, second: after..<anchor.second, depth: part.depth + 1))
          (before, after) = (anchor.first + 1, anchor.second + 1)
        }
      }
    }
    return matches.sorted { $0.first < $1.first }
  }

  /// Matches the equal lines at both ends of a part, and removes them from it.
  private func trim(_ part: inout Part, _ matches: inout [LineMatch]) {
    while let (one, other) = part.ends(\.first), first[one] == second[other] {
      matches.append(LineMatch(first: one, second: other))
      (part.first, part.second) = (part.first.dropFirst(), part.second.dropFirst())
    }
    while let (one, other) = part.ends(\.last), first[one] == second[other] {
      matches.append(LineMatch(first: one, second: other))
      (part.first, part.second) = (part.first.dropLast(), part.second.dropLast())
    }
  }

  /// Returns the longest ascending sequence of lines that occur once in both ranges of a part.
  private func anchors(of part: Part) -> [LineMatch] {
    let places = uniquePlaces(in: second, part.second)
    let unique = uniquePlaces(in: first, part.first)
    let candidates = part.first.compactMap { line -> LineMatch? in
      guard unique[first[line]] != nil, let place = places[first[line]] else { return nil }
      return LineMatch(first: line, second: place)
    }
    return Self.longestAscent(candidates)
  }

  /// Returns the place of each number that occurs once in a range.
  private func uniquePlaces(in numbers: [Int], _ range: Range<Int>) -> [Int: Int] {
    var places: [Int: Int?] = [:]
    for place in range {
      // A number that occurs again keeps its key, without a place.
      places[numbers[place]] = places.keys.contains(numbers[place]) ? .some(nil) : place
    }
    return places.compactMapValues { $0 }
  }

  /// Returns the longest subsequence whose second lines ascend (patience sorting).
  private static func longestAscent(_ candidates: [LineMatch]) -> [LineMatch] {
    // `piles[n]` is the candidate with the smallest second line that ends an ascent of n + 1 candidates.
    var piles: [Int] = []
    var previous = [Int?](repeating: nil, count: candidates.count)
    for (index, candidate) in candidates.enumerated() {
      var (low, high) = (0, piles.count)
      while low < high {
        let middle = (low + high) / 2
        if candidates[piles[middle]].second < candidate.second {
          low = middle + 1
        } else {
          high = middle
        }
      }
      if low > 0 { previous[index] = piles[low - 1] }
      if low == piles.count { piles.append(index) } else { piles[low] = index }
    }
    var ascent: [LineMatch] = []
    var next = piles.last
    while let index = next {
      ascent.append(candidates[index])
      next = previous[index]
    }
    return ascent.reversed()
  }

  /// Matches the lines of a part without unique lines, or none if it is too long.
  private func compare(_ part: Part, _ matches: inout [LineMatch]) {
    // Without matches, the whole part counts as replaced. That is still a correct diff, only a
    // longer one.
    guard part.first.count + part.second.count <= Self.longestPart else { return }
    let difference = second[part.second].difference(from: first[part.first])
    var removed: Set<Int> = []
    var inserted: Set<Int> = []
    for change in difference {
      switch change {
      case .remove(let offset, _, _): removed.insert(part.first.lowerBound + offset)
      case .insert(let offset, _, _): inserted.insert(part.second.lowerBound + offset)
      }
    }
    matches += zip(
      part.first.filter { !removed.contains($0) }, part.second.filter { !inserted.contains($0) }
    ).map { LineMatch(first: $0, second: $1) }
  }
}

extension LineMatching.Part {
  /// Returns the first or last line of both ranges; `nil` if one of them is empty.
  fileprivate func ends(_ end: KeyPath<Range<Int>, Int?>) -> (Int, Int)? {
    guard let one = first[keyPath: end], let other = second[keyPath: end] else { return nil }
    return (one, other)
  }
}
