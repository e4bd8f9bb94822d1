import Bytes
import Files

/// Sixty-four bits that stand for a text: an index of a million records is to fit into memory.
///
/// By accident two of a million texts have the same mark once in thirty million archives. Who makes such texts on
/// purpose has records of the archive taken for one another that they could as well have written so.
struct WARCMark: Hashable {
  private let bits: UInt64

  /// Creates the mark of some texts.
  init(_ texts: ByteString...) {
    var digest = Digest()
    for text in texts {
      digest.update(text.bytes[...])
      digest.update([0])
    }
    bits = digest.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}

extension WARCMark: Comparable {
  static func < (lhs: Self, rhs: Self) -> Bool { lhs.bits < rhs.bits }
}

/// The numbers of records by their marks, which are looked up only once all are known.
///
/// It is an array that is sorted then: a dictionary takes up to three times as much memory.
struct WARCMarkTable {
  private var rows: [(mark: WARCMark, number: Int)] = []

  /// Adds a number under a mark, before the table is sorted.
  mutating func add(_ number: Int, for mark: WARCMark) {
    rows.append((mark, number))
  }

  /// Makes the table ready to be asked.
  mutating func sort() {
    rows.sort { ($0.mark, $0.number) < ($1.mark, $1.number) }
  }

  /// The largest number under the first of the marks that there is anything under.
  func number(ofFirst marks: some Sequence<WARCMark>) -> Int? {
    for mark in marks { if let number = number(of: mark) { return number } }
    return nil
  }

  private func number(of mark: WARCMark) -> Int? {
    var range = rows.indices
    while let middle = range.middle {
      range = rows[middle].mark <= mark ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    // What is before has the mark, or a smaller one.
    guard range.lowerBound > 0, rows[range.lowerBound - 1].mark == mark else { return nil }
    return rows[range.lowerBound - 1].number
  }
}

extension Range<Int> {
  /// The number in the middle; `nil` of an empty range.
  fileprivate var middle: Int? { isEmpty ? nil : lowerBound + count / 2 }
}
