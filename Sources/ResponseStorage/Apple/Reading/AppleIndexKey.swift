import Bytes
import Files
import SQLitePages

/// The key of an index with one column: a value and the id of its row.
struct AppleIndexKey {
  /// The values that are compared, in SQLite's order. CFNetwork indexes no others.
  private enum Kind: UInt64 {
    case null, integer, text
  }

  private var kind = Kind.null
  private var number: Int64 = 0
  private var text: [UInt8] = []
  private var rowID: Int64 = 0

  /// Takes a value from the record of a row or of an index.
  ///
  /// - Parameters:
  ///   - column: The number of the value; `nil` for the id of the row, which a row does not store.
  ///   - bytes: The record, or its beginning.
  /// - Returns: `false` if there is no such value, or it is not compared.
  mutating func read(
    _ column: Int?, of header: RecordHeader?, in bytes: Span<UInt8>, row id: Int64
  ) -> Bool {
    rowID = id
    guard let column else {
      (kind, number) = (.integer, id)
      return true
    }
    guard let header, header.values.indices.contains(column) else { return false }
    let value = header.values[column]
    guard value.range.upperBound <= bytes.count else { return false }
    number = 0
    if value.type.isText {
      kind = .text
      text.replaceAll(with: bytes.extracting(value.range))
    } else if value.type.isNull {
      kind = .null
    } else if let integer = header.integer(column, in: bytes) {
      (kind, number) = (.integer, integer)
    } else {
      return false
    }
    return true
  }

  /// Whether an index can have this key after another one.
  func canFollow(_ other: borrowing AppleIndexKey, isUnique: Bool) -> Bool {
    if kind != other.kind { return kind.rawValue > other.kind.rawValue }
    switch kind {
    case .null: return rowID > other.rowID
    case .integer where number != other.number: return number > other.number
    case .integer: return !isUnique && rowID > other.rowID
    case .text:
      // The collation BINARY: as unsigned bytes, of which eight at a time are compared as a number.
      let (bytes, others) = (text.span, other.text.span)
      let common = min(bytes.count, others.count)
      var place = 0
      while place + 8 <= common {
        let (word, otherWord) = (bytes.word(at: place), others.word(at: place))
        if word != otherWord { return word.byteSwapped > otherWord.byteSwapped }
        place += 8
      }
      while place < common {
        if bytes[place] != others[place] { return bytes[place] > others[place] }
        place += 1
      }
      if bytes.count != others.count { return bytes.count > others.count }
      return !isUnique && rowID > other.rowID
    }
  }

  /// A digest of the key, which only this process can compute.
  func digest(seed: UInt64) -> UInt64 {
    // The kind by itself: together, NULL and a number could give the same word.
    var digest = Self.mixed(Self.mixed(seed, kind.rawValue), UInt64(bitPattern: number))
    if kind == .text {
      let bytes = text.span
      digest = Self.mixed(digest, UInt64(bytes.count))
      for place in stride(from: 0, to: bytes.count, by: 8) {
        digest = Self.mixed(digest, bytes.word(paddedAt: place))
      }
    }
    return Self.mixed(digest, UInt64(bitPattern: rowID))
  }

  /// The finalizer of SplitMix64, which maps numbers to numbers one to one.
  @inline(__always)
  private static func mixed(_ digest: UInt64, _ word: UInt64) -> UInt64 {
    var mixed = (digest &* 0x9E37_79B9_7F4A_7C15) ^ word
    mixed = (mixed ^ mixed &>> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed &>> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed &>> 31
  }
}
