import Bytes
import ResponseStorage

// What is next to each other in the rows of an entry: a text of a removed entry can begin in one value and end in the
// next. A key that ends with "/1" is followed by a time that begins with "2", and so seems to be one that ends with "/12".
extension RawResponse {
  /// The small values as they follow each other in a row; and each text with the id after it, as in an index.
  var smallValues: [UInt8] {
    var bytes: [UInt8] = []
    for column in columns {
      switch column.value {
      case .text(let text): bytes += text.bytes
      case .blob(let blob): bytes += blob
      case .null, .integer, .real: break
      }
    }
    let id = Self.stored(id)
    for column in columns {
      if case .text(let text) = column.value { bytes += text.bytes + id }
    }
    return bytes
  }

  /// Returns the bytes of an integer in a record: as few as it needs, but none for 0 and 1.
  private static func stored(_ integer: Int64) -> [UInt8] {
    guard integer != 0, integer != 1 else { return [] }
    let length = [1, 2, 3, 4, 6].first { integer >> (8 * Int64($0) - 1) == integer >> 63 } ?? 8
    return (0..<length).reversed().map { UInt8(truncatingIfNeeded: integer >> (8 * Int64($0))) }
  }

  /// Returns the end of the header of a record, which is before a body: the types of the values.
  static func types(ofBodyWith size: ByteCount) -> [UInt8] {
    var rest = UInt64(clamping: size.bytes) &* 2 &+ 12
    var type = [UInt8(truncatingIfNeeded: rest & 0x7F)]
    while rest >= 0x80 {
      rest >>= 7
      type.insert(UInt8(truncatingIfNeeded: rest & 0x7F) | 0x80, at: 0)
    }
    // NULL for the id, and the integer 0 for a body that is not in a file.
    return [0, 8] + type
  }
}
