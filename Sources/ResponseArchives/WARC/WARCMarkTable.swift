import Bytes
import Files

/// A 64-bit digest that represents a text, so that an index of a million records fits into memory.
///
/// Two of a million texts have the same mark by accident once in thirty million archives. Creating such texts on
/// purpose only mixes up records that the same author could have written that way to begin with.
struct WARCMark: Hashable {
  private let bits: UInt64

  /// Creates the mark of a sequence of texts.
  init(_ texts: ByteString...) {
    var digest = Digest()
    for text in texts {
      digest.update(text.bytes[...])
      // Without a separator, two texts that are divided in another way would give the same mark.
      digest.update([0])
    }
    bits = digest.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}

extension WARCMark: Comparable {
  static func < (lhs: Self, rhs: Self) -> Bool { lhs.bits < rhs.bits }
}

/// The indices of records by their marks, looked up only when all are known.
///
/// It is an array that is sorted then: a dictionary takes up to three times as much memory.
struct WARCMarkTable {
  private var rows: [(mark: WARCMark, number: Int)] = []

  /// Adds an index for a mark, before the table is sorted.
  mutating func add(_ number: Int, for mark: WARCMark) {
    rows.append((mark, number))
  }

  /// Prepares the table for lookups.
  mutating func sort() {
    // By number too, so that of several records with one digest always the same one is found.
    rows.sort { ($0.mark, $0.number) < ($1.mark, $1.number) }
  }

  /// Returns the largest index for the first mark that has any.
  func number(ofFirst marks: some Sequence<WARCMark>) -> Int? {
    for mark in marks { if let number = number(of: mark) { return number } }
    return nil
  }

  private func number(of mark: WARCMark) -> Int? {
    var range = rows.indices
    while let middle = range.middle {
      range = rows[middle].mark <= mark ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    // Every row before the range has this mark or a smaller one.
    guard range.lowerBound > 0, rows[range.lowerBound - 1].mark == mark else { return nil }
    return rows[range.lowerBound - 1].number
  }
}
