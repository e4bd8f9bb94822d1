import Administration
import Bytes

extension TextBuffer {
  /// Appends the hunks of a unified diff, as POSIX `diff -u` prints them, without the two lines of file names.
  ///
  /// - Parameter isSafe: Whether to show the lines in the safe form of ``HostileText``. Otherwise `patch` can apply
  ///   the result.
  mutating func append(unifiedDiff comparison: LineComparison, isSafe: Bool) {
    for hunk in comparison.hunks() {
      append("@@ -")
      append(lineRange: hunk.first)
      append(" +")
      append(lineRange: hunk.second)
      append(" @@\n")
      for line in hunk.lines {
        switch line {
        case .same(let index): append(" ", line: comparison.second[index], isSafe: isSafe)
        case .removed(let index): append("-", line: comparison.first[index], isSafe: isSafe)
        case .added(let index): append("+", line: comparison.second[index], isSafe: isSafe)
        }
      }
    }
  }

  private mutating func append(lineRange range: Range<Int>) {
    // An empty range is given by the line before it.
    append(integer: Int64(range.isEmpty ? range.lowerBound : range.lowerBound + 1))
    if range.count != 1 {
      append(",")
      append(integer: Int64(range.count))
    }
  }

  private mutating func append(_ mark: String, line: ArraySlice<UInt8>, isSafe: Bool) {
    append(mark)
    let isEnded = line.last == 0x0A
    let text = isEnded ? line.dropLast() : line
    if isSafe {
      // Tabs are harmless, and common in the text that is compared.
      for (index, piece) in text.split(separator: 0x09, omittingEmptySubsequences: false)
        .enumerated()
      {
        if index > 0 { append(0x09) }
        append(shown: Array(piece))
      }
    } else {
      append(contentsOf: text)
    }
    append("\n")
    // `patch` needs this line to restore the text exactly.
    if !isEnded { append("\\ No newline at end of file\n") }
  }
}
