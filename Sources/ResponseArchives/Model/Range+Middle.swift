extension Range<Int> {
  /// The middle of the range, for a search by halves; `nil` if it is empty.
  var middle: Int? { isEmpty ? nil : lowerBound + count / 2 }
}
