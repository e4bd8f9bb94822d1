import Bytes
import SQLitePages

/// The values of a row.
struct RowContent {
  /// The header of the record.
  var header: RecordHeader
  /// The payload, as far as it could be read.
  var bytes: [UInt8]
  /// Whether the whole payload could be read.
  var isComplete: Bool
  /// The names of the columns.
  var columns: [String]

  /// Returns a value by the name of its column; `nil` if it is not in the part that could be read.
  func value(_ column: String) -> RawResponse.Value? {
    guard let index = columns.firstIndex(of: column), header.values.indices.contains(index) else {
      return nil
    }
    let (type, range) = (header.values[index].type, header.values[index].range)
    if type.isNull { return .null }
    if type.isInteger { return header.integer(index, in: bytes.span).map { .integer($0) } }
    if type.isReal { return header.real(index, in: bytes.span).map { .real($0) } }
    guard range.upperBound <= bytes.count else { return nil }
    return type.isText ? .text(ByteString(Array(bytes[range]))) : .blob(Array(bytes[range]))
  }

  /// The range of a BLOB or text in the payload; `nil` for any other value.
  func range(of column: String) -> Range<Int>? {
    guard let index = columns.firstIndex(of: column), header.values.indices.contains(index),
      header.values[index].type.isText || header.values[index].type.isBlob
    else { return nil }
    return header.values[index].range
  }
}
