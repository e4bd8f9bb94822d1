import Bytes
import ResponseStorage

extension SpooledBytes {
  /// Reads the id of a response.
  mutating func id() -> StoredResponse.ID { byte() == 0 ? .row(integer()) : .file(text()) }

  /// Reads a time.
  mutating func time() -> Timestamp? {
    Timestamp(secondsSince1970: Double(bitPattern: number()))
  }
}

extension [UInt8] {
  /// Appends the id of a response.
  mutating func append(id: StoredResponse.ID) {
    switch id {
    case .row(let row):
      append(0)
      append(integer: row)
    case .file(let name):
      append(1)
      append(text: name)
    }
  }

  /// Appends a time.
  mutating func append(time: Timestamp) { append(number: time.secondsSince1970.bitPattern) }
}
